import { type Clock, afterMs } from "@payment-links/runtime";

/** The minimum rate at which a client must read a file. */
type MinimumRate = {
  bytesPerSecond: number;
  /** How far a client may fall behind the minimum rate. */
  graceMs: number;
};

/**
 * Measures how fast a client reads a file. Measures only the time during which bytes wait for the
 * client, not the time during which the server produces them.
 */
export type TransferRateMonitor = {
  /**
   * Waits until the client has taken the written bytes. `byteCount` is the number of these bytes.
   */
  trackTransfer(flushed: Promise<void>, byteCount: number): Promise<void>;
  /** Returns whether bytes wait for the client. */
  isWaitingForReader(): boolean;
  /** Returns how far the client is behind the minimum rate, or 0 while no bytes wait for it. */
  getLagMs(): number;
};

type TransferRateOptions = MinimumRate & {
  clock: Clock;
  /** Called once the client is further behind than the grace period allows. */
  onTooSlow: () => void;
};

/** Creates the monitor of one client. */
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
        // A client that reads faster than the minimum rate gets no credit for later, because the OS
        // socket buffers absorb the first megabytes.
        lagMs = Math.max(0, getCurrentLagMs() - (1_000 * byteCount) / bytesPerSecond);
        waitingSinceMs = undefined;
      }
    },
    isWaitingForReader: () => waitingSinceMs !== undefined,
    getLagMs: () => (waitingSinceMs === undefined ? 0 : getCurrentLagMs()),
  };
};
