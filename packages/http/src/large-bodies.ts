import type { Response } from "express";
import { createApiError } from "@payment-links/contracts";

/** Bodies above 64 KiB. Only a few of them are in memory at the same time. */
export type LargeBodies = {
  /** The maximum size of a body. */
  bytesMax: number;
  /**
   * Reserves memory for the body of an account's request. Throws `429` with `Retry-After` if the
   * account already sends such a body, or too many accounts do.
   */
  reserve(accountId: string, res: Response): void;
  /** Ends the reservation of a request, if it has one. Its handler must have ended. */
  release(res: Response): void;
};

const retryAfterSeconds = 2;

/** Creates the limit of a route's large bodies: one per account, `accountsMax` in this process. */
export const createLargeBodies = ({
  bytesMax,
  accountsMax,
}: {
  bytesMax: number;
  accountsMax: number;
}): LargeBodies => {
  const accountIds = new Map<Response, string>();
  return {
    bytesMax,
    reserve: (accountId, res) => {
      if (accountIds.size >= accountsMax || [...accountIds.values()].includes(accountId)) {
        res.setHeader("Retry-After", String(retryAfterSeconds));
        throw createApiError("429");
      }
      accountIds.set(res, accountId);
    },
    release: (res) => void accountIds.delete(res),
  };
};
