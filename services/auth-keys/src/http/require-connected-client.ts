import type { Response } from "express";
import { ApiError, createApiError } from "@payment-links/contracts";

/**
 * Thrown if the client disconnected before the response. It does not count as a failure of this
 * service.
 */
export class ClientDisconnectedError extends ApiError {
  constructor() {
    const { status, entries } = createApiError("SERVICE_UNAVAILABLE");
    super(status, entries);
  }
}

/**
 * Throws if the client can no longer receive the response. Call it last in a transaction that
 * issues session tokens. Otherwise the new tokens would be lost, and the ones that they replace
 * would no longer work.
 */
export const requireConnectedClient = (res: Response): void => {
  // The response was already sent because of our own timeout.
  if (res.headersSent) throw createApiError("SERVICE_UNAVAILABLE");
  if (res.closed) throw new ClientDisconnectedError();
};
