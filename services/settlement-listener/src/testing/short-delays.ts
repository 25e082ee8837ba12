import { type Clock, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";

/**
 * The shortened delay. It is longer than the poll interval of a test's chain, so background jobs do
 * not use too much CPU.
 */
const shortDelayMs = 100;

/**
 * Shorter waits are not changed. Retries of requests wait less than this, so tests run all of them.
 */
const shortenedMsMin = 1_000;

/**
 * Longer waits are not changed. These are waits of statistics and cleanup jobs, and tests do not
 * wait for them.
 */
const shortenedMsMax = 10_000;

/**
 * Returns a clock with the same time that shortens waits of 1 to 10 s to 100 ms, so the background
 * jobs of the watch run sooner. Leases, timeouts and other durations keep their production values.
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
 * Returns a clock with short delays, and a function that waits while the clock's elapsed time
 * advances faster. The background jobs that backfill nonces and resolve orphaned transfers use the
 * elapsed time to pause for 10 s after a failed run.
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
