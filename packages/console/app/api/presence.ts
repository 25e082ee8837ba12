/** The user declined to prove presence. */
export class PresenceDeclinedError extends Error {
  override readonly name = "PresenceDeclinedError";
}

/** A pending proof of presence, with the accepted methods. */
export type PresenceRequest = { methods: readonly string[]; finish: (isProven: boolean) => void };

let current: { request: PresenceRequest; result: Promise<void> } | undefined;
const listeners = new Set<() => void>();

const setCurrent = (next: typeof current): void => {
  current = next;
  for (const listener of listeners) listener();
};

/**
 * Requests one proof of presence for all pending calls. Throws `PresenceDeclinedError` if the user
 * declines.
 */
export const requestPresence = (methods: readonly string[]): Promise<void> => {
  if (current !== undefined) return current.result;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const finish = (isProven: boolean): void => {
    setCurrent(undefined);
    if (isProven) resolve();
    else reject(new PresenceDeclinedError("presence was not proven"));
  };
  setCurrent({ request: { methods, finish }, result: promise });
  return promise;
};

/** Returns the pending request, if there is one. */
export const getPresenceRequest = (): PresenceRequest | undefined => current?.request;

/** Calls the listener when a request starts or ends. Returns the function that unsubscribes. */
export const subscribeToPresenceRequests = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
