import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/**
 * The deadlines of all attempts under way. All are equally long, so the first to begin is the first
 * to end.
 */
export type Deadlines = {
  /**
   * Calls `expire` once the time is over, unless `end` was called before. That is at `at`, unless the
   * machine's clock is set meanwhile.
   */
  start(onExpire: () => void): { expiresAt: Date; cancel: () => void };
};

/**
 * Makes the deadlines with one timer for all: a timer and a signal for each attempt would cost as
 * much as its request.
 */
export const createDeadlines = (clock: Clock, timeoutMs: number): Deadlines => {
  const activeDeadlines = new Map<symbol, { expiresAtMs: number; onExpire: () => void }>();
  let waitAbortController = new AbortController();
  let isWatching = false;

  /** In whole milliseconds, as an instant has no others. */
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
      // A process that was held up first handles what arrived meanwhile: an answer that is already
      // there is not late.
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
        // With a reason of our own, Node need not build an exception with its stack.
        if (activeDeadlines.size === 0) waitAbortController.abort("none is left");
      };
      return { expiresAt, cancel };
    },
  };
};
