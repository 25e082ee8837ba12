import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/** Detects callers that still send requests to a stopping process because routing lags behind. */
export type RequestDrain = {
  /** Records that a request arrived now. */
  recordRequest: () => void;
  /** Resolves after a drain delay without requests, or after two drain delays at the latest. */
  waitUntilQuiet: (drainDelayMs: number) => Promise<void>;
};

/**
 * On a busy node, traffic is rerouted seconds after a process received its stop signal. The only
 * sign of that is that requests still arrive.
 */
const drainDelaysMax = 2;

/** Returns the longest time that a stop waits for remaining callers. */
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
        // Let requests that arrived while the process was blocked be recorded first.
        await setImmediate();
      }
    },
  };
};

const neverAborted = new AbortController().signal;
