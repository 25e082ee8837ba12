import type { Response } from "express";
import { ApiError, createApiError } from "@payment-links/contracts";

/** Whoever asked went away before the answer: nobody hears it, and nothing of ours has failed. */
export class ClientDisconnectedError extends ApiError {
  constructor() {
    const { status, entries } = createApiError("SERVICE_UNAVAILABLE");
    super(status, entries);
  }
}

/**
 * Throws if nobody hears the answer any more. Last in a transaction that gives out a session's token:
 * that token would be lost, and with it the one in whose place it came.
 */
export const requireConnectedClient = (res: Response): void => {
  // We were too slow ourselves, and have said so.
  if (res.headersSent) throw createApiError("SERVICE_UNAVAILABLE");
  if (res.closed) throw new ClientDisconnectedError();
};
