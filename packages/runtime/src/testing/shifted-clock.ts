import { type Clock, systemClock } from "../clock.ts";

/**
 * Creates a clock that follows the system clock. A test can shift its wall time and its elapsed
 * time instead of waiting. The clock keeps running, so loops continue.
 */
export const createShiftedClock = () => {
  const shift = { nowMs: 0, elapsedMs: 0 };
  const clock: Clock = {
    now: () => new Date(Date.now() + shift.nowMs),
    elapsedMs: () => systemClock.elapsedMs() + shift.elapsedMs,
    sleepUntil: (instant, signal) =>
      systemClock.sleepUntil(new Date(instant.getTime() - shift.nowMs), signal),
  };
  return { clock, shift };
};
