import { type Clock, afterMs, backoffMs } from "@payment-links/runtime";

const backoff = { initialMs: 100, maxMs: 5_000 };

/** How long the bus waits after so many failures in a row: 0.1 to 5 s. */
export const retryMs = (failureCount: number): number => backoffMs(failureCount, backoff);

/** When it tries again. */
export const retryAt = (clock: Clock, failureCount: number): Date =>
  afterMs(clock, retryMs(failureCount));
