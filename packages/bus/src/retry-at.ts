import { type Clock, afterMs, backoffMs } from "@payment-links/runtime";

const backoff = { firstMs: 100, mostMs: 5_000 };

/** When the bus tries again after so many failures in a row: in 0.1 to 5 s. */
export const retryAt = (clock: Clock, failures: number): Date =>
  afterMs(clock, backoffMs(failures, backoff));
