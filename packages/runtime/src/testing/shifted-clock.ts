import { type Clock, systemClock } from "../clock.ts";

/**
 * The machine's own clock, whose time of day and elapsed time a test can shift. It runs on by itself, so
 * loops go on. A test that shifts it need not wait until a near instant has passed.
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
