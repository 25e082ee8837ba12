import { type Clock, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";

/** Longer than the poll interval of a test's chain, so that background jobs do not use up the processor. */
const shortDelayMs = 100;

/** Retries of a request rest for less, so that a test sees all of them. */
const shortenedMsMin = 1_000;

/** Statistics and clean-up jobs rest for longer, and no test waits for them. */
const shortenedMsMax = 10_000;

/**
 * Returns a clock that shows the same time but ends a rest of 1 to 10 s within 100 ms. Background jobs of
 * the watch run sooner; leases, time-outs and other durations keep their production values.
 */
export const withShortDelays = (clock: Clock = systemClock): Clock => ({
  now: () => clock.now(),
  elapsedMs: () => clock.elapsedMs(),
  sleepUntil: (instant, signal) => {
    const nowMs = clock.now().getTime();
    const delayMs = instant.getTime() - nowMs;
    const isShortened = delayMs >= shortenedMsMin && delayMs <= shortenedMsMax;
    return clock.sleepUntil(isShortened ? new Date(nowMs + shortDelayMs) : instant, signal);
  },
});

/**
 * Returns a clock with short rests, and a wait during which its elapsed time passes faster. The duties to learn
 * and to judge measure by it the 10 s that they rest after a failed turn.
 */
export const createAcceleratedClock = () => {
  const { clock, shift } = createShiftedClock();
  return {
    clock: withShortDelays(clock),
    waitAccelerated: (description: string, condition: () => boolean | Promise<boolean>) =>
      waitUntil(description, () => {
        shift.elapsedMs += 500;
        return condition();
      }),
  };
};
