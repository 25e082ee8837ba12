import { Finding } from "../finding.ts";
import type { InjectedResponse, InjectedRequest } from "../inject-request.ts";
import type { ServiceName } from "../replica.ts";

/** A request of an external caller. It is retried until it is completed. */
export type PendingRequest = {
  description: string;
  service: ServiceName;
  isInternal?: boolean;
  inFlightCount: number;
  /** The earliest time of the next attempt. */
  notBeforeMs: number;
  createRequest: () => InjectedRequest;
  /** Returns true if the response completes the request. */
  handleResponse: (response: InjectedResponse) => boolean;
};

type RequestQueue = { pendingRequests: PendingRequest[] };

export const enqueueRequest = (
  { pendingRequests }: RequestQueue,
  pendingRequest: Omit<PendingRequest, "inFlightCount" | "notBeforeMs">,
): void => {
  pendingRequests.push({ ...pendingRequest, inFlightCount: 0, notBeforeMs: 0 });
};

/**
 * Returns false for a 5xx response, so that the request is retried. Throws for any other unexpected
 * status.
 */
export const assertRetryable = (status: number, text: string, description: string): false => {
  if (status < 500) throw new Finding(`${description} got the response ${status} ${text}`);
  return false;
};
