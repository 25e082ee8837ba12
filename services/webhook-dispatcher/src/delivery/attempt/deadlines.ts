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
  begin(expire: () => void): { at: Date; end: () => void };
};

/**
 * Makes the deadlines with one timer for all: a timer and a signal for each attempt would cost as
 * much as its request.
 */
export const createDeadlines = (clock: Clock, timeoutMs: number): Deadlines => {
  const open = new Map<symbol, { endsAtMs: number; expire: () => void }>();
  let waiting = new AbortController();
  let isWatching = false;

  /** In whole milliseconds, as an instant has no others. */
  const restMs = (endsAtMs: number): number => Math.ceil(endsAtMs - clock.elapsedMs());

  const watch = async (): Promise<void> => {
    isWatching = true;
    for (;;) {
      const [first] = open;
      if (first === undefined) break;
      const [key, { endsAtMs, expire }] = first;
      waiting = new AbortController();
      await clock.until(afterMs(clock, restMs(endsAtMs)), waiting.signal);
      if (restMs(endsAtMs) > 0) continue;
      // A process that was held up first handles what arrived meanwhile: an answer that is already
      // there is not late.
      await setImmediate();
      if (open.delete(key)) expire();
    }
    isWatching = false;
  };

  return {
    begin: (expire) => {
      const key = Symbol("deadline");
      const at = afterMs(clock, timeoutMs);
      open.set(key, { endsAtMs: clock.elapsedMs() + timeoutMs, expire });
      if (!isWatching) void watch();
      const end = (): void => {
        open.delete(key);
        // With a reason of our own, Node need not build an exception with its stack.
        if (open.size === 0) waiting.abort("none is left");
      };
      return { at, end };
    },
  };
};
