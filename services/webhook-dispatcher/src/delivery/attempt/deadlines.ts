import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/**
 * The deadlines of all attempts under way. All are equally long, so the first to begin is the first
 * to end.
 */
export type Deadlines = {
  /** Calls `expire` once the time is over, unless `end` was called before. */
  begin(expire: () => void): { at: Date; end: () => void };
};

/**
 * Makes the deadlines with one timer for all: a timer and a signal for each attempt would cost as
 * much as its request.
 */
export const createDeadlines = (clock: Clock, timeoutMs: number): Deadlines => {
  const open = new Map<symbol, { at: Date; expire: () => void }>();
  let waiting = new AbortController();
  let isWatching = false;

  const watch = async (): Promise<void> => {
    isWatching = true;
    for (;;) {
      const [first] = open;
      if (first === undefined) break;
      const [key, { at, expire }] = first;
      waiting = new AbortController();
      await clock.until(at, waiting.signal);
      if (clock.now() < at) continue;
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
      open.set(key, { at, expire });
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
