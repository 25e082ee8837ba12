import { afterMs, systemClock } from "@payment-links/runtime";

const waitMsMin = 100;
const waitMsMax = 5_000;

/**
 * Waits longer after each failure in a row, up to five seconds; ends early when the signal aborts.
 */
export const waitAfterFailures = (failures: number, signal: AbortSignal): Promise<void> => {
  const waitMs = Math.min(waitMsMin * 2 ** Math.min(failures - 1, 10), waitMsMax);
  return systemClock.until(afterMs(systemClock, waitMs), signal);
};
