import { Finding } from "../finding.ts";
import type { InjectedResponse, InjectedRequest } from "../inject-request.ts";
import type { ServiceName } from "../replica.ts";

/** Something that somebody outside wants of a service, again and again until it is answered. */
export type PendingRequest = {
  description: string;
  service: ServiceName;
  isInternal?: boolean;
  inFlightCount: number;
  /** Not tried again before that. */
  notBeforeMs: number;
  createRequest: () => InjectedRequest;
  /** Whether the answer ends it. */
  handleResponse: (response: InjectedResponse) => boolean;
};

type RequestQueue = { pendingRequests: PendingRequest[] };

/** From now on somebody wants this. */
export const enqueueRequest = (
  { pendingRequests }: RequestQueue,
  pendingRequest: Omit<PendingRequest, "inFlightCount" | "notBeforeMs">,
): void => {
  pendingRequests.push({ ...pendingRequest, inFlightCount: 0, notBeforeMs: 0 });
};

/** 5xx and a lost answer are tried again; anything else is not as promised. */
export const assertRetryable = (status: number, text: string, description: string): false => {
  if (status < 500) throw new Finding(`${description} is answered ${status} ${text}`);
  return false;
};
