import { setImmediate } from "node:timers/promises";
import { type Clock, afterMs } from "@payment-links/runtime";

/**
 * Detects that callers still send requests to a stopping process, because load balancers have not
 * removed it yet.
 */
export type RequestDrain = {
  /** Records that a request arrived now. */
  recordRequest: () => void;
  /** Resolves after a drain delay without requests, but no later than after two drain delays. */
  waitUntilQuiet: (drainDelayMs: number) => Promise<void>;
};

/**
 * The maximum wait, in drain delays. On a busy node, load balancers can react seconds after the
 * process received its stop signal. The process notices this only because requests still arrive.
 */
const drainDelaysMax = 2;

/** Returns the longest time that a stopping process waits for remaining callers. */
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
        await clock.sleepUntil(afterMs(clock, Math.ceil(waitMs)));
        // First lets the event loop record requests that arrived while the process was busy.
        await setImmediate();
      }
    },
  };
};
