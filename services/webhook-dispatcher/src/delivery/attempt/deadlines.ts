import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/**
 * The deadlines of all attempts in progress. All have the same length, so they expire in the order
 * in which they start.
 */
export type Deadlines = {
  /**
   * Calls `onExpire` when the time is up, unless `cancel` is called first. `expiresAt` is that
   * time, unless the system clock is changed in the meantime.
   */
  start(onExpire: () => void): { expiresAt: Date; cancel: () => void };
};

/**
 * Creates deadlines that share one timer. A timer and a signal per attempt would cost as much as
 * its request.
 */
export const createDeadlines = (clock: Clock, timeoutMs: number): Deadlines => {
  const activeDeadlines = new Map<symbol, { expiresAtMs: number; onExpire: () => void }>();
  let waitAbortController = new AbortController();
  let isWatching = false;

  /** Rounds up to whole milliseconds, the resolution of a `Date`. */
  const remainingMs = (expiresAtMs: number): number => Math.ceil(expiresAtMs - clock.elapsedMs());

  const watch = async (): Promise<void> => {
    isWatching = true;
    for (;;) {
      const [firstEntry] = activeDeadlines;
      if (firstEntry === undefined) break;
      const [key, { expiresAtMs, onExpire }] = firstEntry;
      waitAbortController = new AbortController();
      await clock.sleepUntil(afterMs(clock, remainingMs(expiresAtMs)), waitAbortController.signal);
      if (remainingMs(expiresAtMs) > 0) continue;
      // If the event loop was blocked, responses may have arrived in time but were not handled yet.
      // Handles them before the deadline expires.
      await setImmediate();
      if (activeDeadlines.delete(key)) onExpire();
    }
    isWatching = false;
  };

  return {
    start: (onExpire) => {
      const key = Symbol("deadline");
      const expiresAt = afterMs(clock, timeoutMs);
      activeDeadlines.set(key, { expiresAtMs: clock.elapsedMs() + timeoutMs, onExpire });
      if (!isWatching) void watch();
      const cancel = (): void => {
        activeDeadlines.delete(key);
        // With an explicit reason, Node does not build an exception with a stack trace.
        if (activeDeadlines.size === 0) waitAbortController.abort("no active deadlines");
      };
      return { expiresAt, cancel };
    },
  };
};
