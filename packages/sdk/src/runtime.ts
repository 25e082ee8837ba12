/** What the client needs of the machine besides the network. */
export type Runtime = {
  /** Resolves after so many milliseconds; rejects with the signal's reason once that aborts. */
  wait(ms: number, signal: AbortSignal | null | undefined): Promise<void>;
  /** From 0 up to 1, without 1. */
  random(): number;
  /** A new idempotency key. */
  newIdempotencyKey(): string;
};

/** The machine itself. */
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
};
