import type { Response } from "express";
import { refuse } from "@payment-links/contracts";

/**
 * Throws if nobody hears the answer any more. Last in a transaction that gives out a session's token:
 * that token would be lost, and with it the one in whose place it came.
 */
export const requireListener = (res: Response): void => {
  if (res.headersSent || res.closed) throw refuse("SERVICE_UNAVAILABLE");
};
