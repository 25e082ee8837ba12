/** The person would rather not prove to be there. */
export class PresenceDeclinedError extends Error {
  override readonly name = "PresenceDeclinedError";
}

/** A call that waits for a proof of presence by one of these methods. */
export type PresenceRequest = { methods: readonly string[]; finish: (isProven: boolean) => void };

let current: { request: PresenceRequest; result: Promise<void> } | undefined;
const listeners = new Set<() => void>();

const setCurrent = (next: typeof current): void => {
  current = next;
  for (const listener of listeners) listener();
};

/** Asks the person, once for all calls that wait; throws PresenceDeclinedError if they would rather not. */
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

/** The question that stands, if any. */
export const getPresenceRequest = (): PresenceRequest | undefined => current?.request;

/** Tells when a question comes or goes; answers how to hear no more. */
export const subscribeToPresenceRequests = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
