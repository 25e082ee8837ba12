import type { Request, Response } from "express";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";
import { listParked, readBacklog } from "../store/payments.ts";

const parkedShownMax = 100;

/** GET /internal/settlement/status: what an operator asks first when a payment is missed. */
export const showStatus =
  ({ pool, providers }: Deps) =>
  async (_req: Request, res: Response): Promise<void> => {
    const backlog = await readBacklog(pool);
    const parked = await listParked(pool, parkedShownMax);
    res.json({ providers: [...providers.keys()], ...backlog, parked: parked.map(showParked) });
  };

const showParked = (payment: Payment) => ({
  id: payment.id,
  source: payment.source,
  sourceId: payment.sourceId,
  paymentLinkId: payment.paymentLinkId,
  status: payment.status,
  firstSeenAt: payment.firstSeenAt.toISOString(),
});
