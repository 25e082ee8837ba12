import type { IntrospectionResponse, IntrospectionRequest } from "@payment-links/contracts";
import type { RequestIntrospection } from "../caller.ts";

/** An auth-keys whose answers a test gives, one by one or all at once. */
export type FakeAuthKeys = {
  requestIntrospection: RequestIntrospection;
  /** Every question so far. */
  requests: IntrospectionRequest[];
  /** From now on answers at once: the answer, or the error. */
  respondWith(response: IntrospectionResponse | Error): void;
  /** From now on keeps questions waiting. */
  holdRequests(): void;
  /** Answers the question that waits longest. */
  respondToNext(response: IntrospectionResponse | Error): void;
};

/** Makes an auth-keys that keeps questions waiting until it is told what to reply. */
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
      if (settle === undefined) throw new Error("no question waits");
      settle(response);
    },
  };
};
