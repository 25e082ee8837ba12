import { type Clock, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";

/**
 * Longer than the poll interval of a test's chain, so background jobs do not use up the processor.
 */
const shortDelayMs = 100;

/** Request retries wait less than this, so a test sees all of them. */
const shortenedMsMin = 1_000;

/** Statistics and cleanup jobs wait longer than this, and no test waits for them. */
const shortenedMsMax = 10_000;

/**
 * Returns a clock with the same time that ends a wait of 1 to 10 s within 100 ms. Background jobs
 * of the watch run sooner. Leases, timeouts and other durations keep their production values.
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
 * Returns a clock with short delays, and a wait during which its elapsed time advances faster. The
 * background jobs that backfill nonces and resolve orphaned transfers measure their 10 s pause
 * after a failed run by it.
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
