/** What the client needs of the machine besides the network. */
export type World = {
  /** Resolves after so many milliseconds; rejects with the signal's reason once that aborts. */
  wait(ms: number, signal: AbortSignal | null | undefined): Promise<void>;
  /** From 0 up to 1, without 1. */
  random(): number;
  /** A new idempotency key. */
  newKey(): string;
};

/** The machine itself. */
export const systemWorld: World = {
  wait: async (ms, signal) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    });
  },
  random: () => Math.random(),
  newKey: () => crypto.randomUUID(),
};
