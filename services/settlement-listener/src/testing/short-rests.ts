import { type Clock, systemClock } from "@payment-links/runtime";

/** Longer than the poll interval of a test's chain, so that background jobs do not use up the processor. */
const shortRestMs = 100;

/** Retries of a request rest for less, so that a test sees all of them. */
const shortenedMsMin = 1_000;

/** Statistics and clean-up jobs rest for longer, and no test waits for them. */
const shortenedMsMax = 10_000;

/**
 * Returns a clock that shows the same time but ends a rest of 1 to 10 s within 100 ms. Background jobs of
 * the watch run sooner; leases, time-outs and other durations keep their production values.
 */
export const withShortRests = (clock: Clock = systemClock): Clock => ({
  now: () => clock.now(),
  elapsedMs: () => clock.elapsedMs(),
  until: (instant, signal) => {
    const nowMs = clock.now().getTime();
    const restMs = instant.getTime() - nowMs;
    const isShortened = restMs >= shortenedMsMin && restMs <= shortenedMsMax;
    return clock.until(isShortened ? new Date(nowMs + shortRestMs) : instant, signal);
  },
});
