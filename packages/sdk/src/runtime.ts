/** What the client needs from its environment besides the network. */
export type Runtime = {
  /**
   * Resolves after `ms` milliseconds, or rejects with the signal's reason when the signal aborts.
   */
  wait(ms: number, signal: AbortSignal | null | undefined): Promise<void>;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  newIdempotencyKey(): string;
  /** Returns the milliseconds since an arbitrary start. Never goes back. */
  now(): number;
};

/** The real clock and real random numbers. */
export const systemRuntime: Runtime = {
  wait: async (ms, signal) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    });
  },
  random: () => Math.random(),
  newIdempotencyKey: () => crypto.randomUUID(),
  now: () => performance.now(),
};
