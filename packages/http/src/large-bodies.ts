import type { Response } from "express";
import { createApiError } from "@payment-links/contracts";

/** Bodies above 64 KiB. Only a few of them are in memory at the same time. */
export type LargeBodies = {
  /** The maximum size of a body. */
  bytesMax: number;
  /**
   * Reserves memory for a body until the response has been sent or the client has disconnected.
   * Throws `429` with `Retry-After` if the account already sends such a body, or too many accounts
   * do.
   */
  reserve(accountId: string, res: Response): void;
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
  const accountIds = new Set<string>();
  return {
    bytesMax,
    reserve: (accountId, res) => {
      if (accountIds.has(accountId) || accountIds.size >= accountsMax) {
        res.setHeader("Retry-After", String(retryAfterSeconds));
        throw createApiError("429");
      }
      accountIds.add(accountId);
      res.once("close", () => accountIds.delete(accountId));
    },
  };
};
