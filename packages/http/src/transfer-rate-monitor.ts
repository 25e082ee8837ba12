import { type Clock, afterMs } from "@payment-links/runtime";

/** How fast a reader must take a file. */
type MinimumRate = {
  /** The minimum rate. */
  bytesPerSecond: number;
  /** How far a reader may fall behind the minimum rate. */
  graceMs: number;
};

/**
 * Measures how fast a reader takes a file. Only the time in which bytes wait for the reader counts; the
 * time in which we produce them does not.
 */
export type TransferRateMonitor = {
  /** Waits until the reader has taken what was written. `byteCount` is how much that is. */
  trackTransfer(flushed: Promise<void>, byteCount: number): Promise<void>;
  /** Whether bytes wait for the reader. */
  isWaitingForReader(): boolean;
  /** How far the reader is behind the minimum rate; 0 while nothing waits for it. */
  getLagMs(): number;
};

type TransferRateOptions = MinimumRate & {
  clock: Clock;
  /** Runs once the reader is further behind than the grace period allows. */
  onTooSlow: () => void;
};

/** Creates the measurement for one reader. */
export const createTransferRateMonitor = ({
  bytesPerSecond,
  clock,
  graceMs,
  onTooSlow,
}: TransferRateOptions): TransferRateMonitor => {
  let lagMs = 0;
  let waitingSinceMs: number | undefined;
  const getCurrentLagMs = (): number =>
    waitingSinceMs === undefined ? lagMs : lagMs + clock.elapsedMs() - waitingSinceMs;
  return {
    trackTransfer: async (flushed, byteCount) => {
      waitingSinceMs = clock.elapsedMs();
      const waitAbort = new AbortController();
      void clock.sleepUntil(afterMs(clock, graceMs - lagMs), waitAbort.signal).then(() => {
        if (!waitAbort.signal.aborted) onTooSlow();
      });
      try {
        await flushed;
      } finally {
        waitAbort.abort();
        // Bytes taken quickly are no credit for later: the buffers of the system take the first megabytes.
        lagMs = Math.max(0, getCurrentLagMs() - (1_000 * byteCount) / bytesPerSecond);
        waitingSinceMs = undefined;
      }
    },
    isWaitingForReader: () => waitingSinceMs !== undefined,
    getLagMs: () => (waitingSinceMs === undefined ? 0 : getCurrentLagMs()),
  };
};
