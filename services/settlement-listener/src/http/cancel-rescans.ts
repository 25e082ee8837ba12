import type { Request, Response } from "express";
import { body, createApiError } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { deleteRescans } from "../store/rescans.ts";
import { chainIdField } from "./chain-id-field.ts";

const CancelRequest = body({
  chainId: chainIdField,
});

/**
 * POST /internal/settlement/cancel-rescans: cancels all pending rescans of a chain. Payments that
 * they have already found stay. 404 if the chain is not configured.
 */
export const cancelRescans =
  ({ chains, log, pool }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId } = await readJsonBody(req, CancelRequest);
    if (!chains.ids.includes(chainId)) throw createApiError("NOT_FOUND");
    const cancelledCount = await deleteRescans(pool, chainId);
    log.info({ chain: chainId, count: cancelledCount }, "rescans canceled");
    sendJson(res, 202, { chainId, cancelledCount });
  };
