import { type Clock, systemClock } from "../clock.ts";

/**
 * Creates a clock that follows the system clock, with a wall time and an elapsed time that a test
 * can shift. It keeps running, so loops continue. A test can shift it instead of waiting.
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
