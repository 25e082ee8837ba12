import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { RecordRefundBody, newId } from "@payment-links/contracts";
import { createSessionActor, readJsonBody, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { parseRefundOrder, parseTransactionId } from "../domain/refund.ts";
import { insertRefund } from "../store/refunds.ts";
import { findRefundablePayment } from "./find-refundable-payment.ts";
import { getOwnLink } from "./get-own-link.ts";
import { serializeRefund } from "./serialize-refund.ts";

/**
 * POST /console/api/payment-links/:id/refunds: records a refund that the owner has sent with a
 * wallet (rule CALLER-43). The money has already left, so neither the payment's state nor the
 * amount of earlier refunds matters. The transaction is not verified. The audit log does not contain
 * it, because it leads to the payer.
 */
export const recordRefund =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { paymentId, transactionId, ...order } = await readJsonBody(req, RecordRefundBody);
    const link = await getOwnLink(dependencies, req, caller);
    const now = dependencies.clock.now();
    const refund = await transact(dependencies.pool, async (tx) => {
      const linkPayment = { linkId: link.id, paymentId };
      const { payment, token } = await findRefundablePayment(dependencies, tx, linkPayment);
      const stored = await insertRefund(tx, {
        id: newId("rfd"),
        linkId: link.id,
        paymentId,
        tokenAddress: payment.tokenAddress,
        chainId: payment.chainId,
        ...parseRefundOrder(token, order),
        transactionId: parseTransactionId(token, transactionId),
        recordedAt: now,
      });
      if (stored.isNew) {
        await publishAuditEvent(tx, {
          ...createSessionActor(req, caller.credential),
          at: now,
          accountId: link.userId,
          action: "payment_link.refund_recorded",
          targetId: link.id,
          detail: { paymentId, refundId: stored.refund.id },
        });
      }
      return stored.refund;
    });
    dependencies.wakeRelay();
    sendJson(res, 200, serializeRefund(dependencies, refund));
  };
