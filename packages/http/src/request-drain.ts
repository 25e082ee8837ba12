import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/** Whoever calls a process that is about to end, because the way here has not heard of it yet. */
export type RequestDrain = {
  /** Somebody calls now. */
  recordRequest: () => void;
  /** Ends once nobody has called for the drain delay, and after twice as long at the latest. */
  waitUntilQuiet: (drainDelayMs: number) => Promise<void>;
};

/**
 * On a busy node the way to a process is taken away seconds after it was told to stop. That shows
 * here alone: somebody still calls.
 */
const drainDelaysMax = 2;

/** How long a stop waits at most for those who still call. */
export const toDrainMsMax = (drainDelayMs: number): number => drainDelayMs * drainDelaysMax;

export const createRequestDrain = (clock: Clock): RequestDrain => {
  let lastRequestAtMs = 0;
  return {
    recordRequest: () => {
      lastRequestAtMs = clock.elapsedMs();
    },
    waitUntilQuiet: async (drainDelayMs) => {
      const startedAtMs = clock.elapsedMs();
      const endsAtMs = startedAtMs + toDrainMsMax(drainDelayMs);
      for (;;) {
        const quietAtMs = Math.max(lastRequestAtMs, startedAtMs) + drainDelayMs;
        const waitMs = Math.min(quietAtMs, endsAtMs) - clock.elapsedMs();
        if (waitMs <= 0) return;
        await clock.sleepUntil(afterMs(clock, Math.ceil(waitMs)), neverAborted);
        // A process that was held up first hears who has called meanwhile.
        await setImmediate();
      }
    },
  };
};

const neverAborted = new AbortController().signal;
