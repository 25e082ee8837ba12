import { type Clock, afterMs, backoffMs } from "@payment-links/runtime";

const backoff = { initialMs: 100, maxMs: 5_000 };

/** Returns the backoff after this many consecutive failures: 0.1 to 5 s. */
export const retryMs = (failureCount: number): number => backoffMs(failureCount, backoff);

/** Returns the time of the next attempt. */
export const retryAt = (clock: Clock, failureCount: number): Date =>
  afterMs(clock, retryMs(failureCount));
