import type { IntrospectionResponse, IntrospectionRequest } from "@payment-links/contracts";
import type { RequestIntrospection } from "../caller.ts";

/** A fake auth-keys. The test controls its responses, one by one or all together. */
export type FakeAuthKeys = {
  requestIntrospection: RequestIntrospection;
  /** All requests that were received so far. */
  requests: IntrospectionRequest[];
  /** Responds immediately to all later requests with this response or error. */
  respondWith(response: IntrospectionResponse | Error): void;
  /** Leaves all later requests pending. */
  holdRequests(): void;
  /** Responds to the oldest pending request. */
  respondToNext(response: IntrospectionResponse | Error): void;
};

/** Creates a fake auth-keys that leaves requests pending until the test responds. */
export const createFakeAuthKeys = (): FakeAuthKeys => {
  type SettleRequest = (response: IntrospectionResponse | Error) => void;
  const requests: IntrospectionRequest[] = [];
  const heldRequests: SettleRequest[] = [];
  let immediateResponse: IntrospectionResponse | Error | undefined;
  return {
    requests,
    requestIntrospection: (request) => {
      requests.push(request);
      return new Promise((resolve, reject) => {
        const settle: SettleRequest = (response) =>
          response instanceof Error ? reject(response) : resolve(response);
        if (immediateResponse === undefined) heldRequests.push(settle);
        else settle(immediateResponse);
      });
    },
    respondWith: (response) => {
      immediateResponse = response;
    },
    holdRequests: () => {
      immediateResponse = undefined;
    },
    respondToNext: (response) => {
      const settle = heldRequests.shift();
      if (settle === undefined) throw new Error("no request is pending");
      settle(response);
    },
  };
};
