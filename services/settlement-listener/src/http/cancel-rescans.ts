import type { Request, Response } from "express";
import { body, refuse } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { deleteRescans } from "../store/rescans.ts";
import { chainIdField } from "./chain-id-field.ts";

/** The body of an operator's word that a chain's rescans are not wanted any more. */
const CancelRequest = body({
  chainId: chainIdField,
});

/**
 * POST /internal/settlement/cancel-rescans: gives up the rescans of a chain that are not done. What
 * they found so far stays. 404 for a chain that is not configured.
 */
export const cancelRescans =
  ({ chainIds, log, pool }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId } = await readBody(req, CancelRequest);
    if (!chainIds.includes(chainId)) throw refuse("NOT_FOUND");
    const cancelledCount = await deleteRescans(pool, chainId);
    log.info({ chain: chainId, count: cancelledCount }, "rescans were cancelled");
    answerJson(res, 202, { chainId, cancelledCount });
  };
