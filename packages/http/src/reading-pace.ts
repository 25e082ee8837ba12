import { type Clock, afterMs } from "@payment-links/runtime";

/** How fast a reader must take a file. */
type PaceLimit = {
  /** The minimum rate. */
  bytesPerSecond: number;
  /** How far a reader may fall behind the minimum rate. */
  graceMs: number;
};

/**
 * Measures how fast a reader takes a file. Only the time in which bytes wait for the reader counts; the
 * time in which we produce them does not.
 */
export type ReadingPace = {
  /** Waits until the reader has taken what was written. `byteCount` is how much that is. */
  wait(taken: Promise<void>, byteCount: number): Promise<void>;
  /** Whether bytes wait for the reader. */
  isWaiting(): boolean;
  /** How far the reader is behind the minimum rate; 0 while nothing waits for it. */
  behindMs(): number;
};

type PaceOptions = PaceLimit & {
  clock: Clock;
  /** Runs once the reader is further behind than the grace period allows. */
  onTooSlow: () => void;
};

/** Creates the measurement for one reader. */
export const createReadingPace = ({
  bytesPerSecond,
  clock,
  graceMs,
  onTooSlow,
}: PaceOptions): ReadingPace => {
  let lagMs = 0;
  let waitingSinceMs: number | undefined;
  const lagNow = (): number =>
    waitingSinceMs === undefined ? lagMs : lagMs + clock.elapsedMs() - waitingSinceMs;
  return {
    wait: async (taken, byteCount) => {
      waitingSinceMs = clock.elapsedMs();
      const ended = new AbortController();
      void clock.until(afterMs(clock, graceMs - lagMs), ended.signal).then(() => {
        if (!ended.signal.aborted) onTooSlow();
      });
      try {
        await taken;
      } finally {
        ended.abort();
        // Bytes taken quickly are no credit for later: the buffers of the system take the first megabytes.
        lagMs = Math.max(0, lagNow() - (1_000 * byteCount) / bytesPerSecond);
        waitingSinceMs = undefined;
      }
    },
    isWaiting: () => waitingSinceMs !== undefined,
    behindMs: () => (waitingSinceMs === undefined ? 0 : lagNow()),
  };
};
