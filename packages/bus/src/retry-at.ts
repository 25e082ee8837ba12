import { type Clock, afterMs, backoffMs } from "@payment-links/runtime";

const backoff = { firstMs: 100, mostMs: 5_000 };

/** How long the bus waits after so many failures in a row: 0.1 to 5 s. */
export const retryMs = (failures: number): number => backoffMs(failures, backoff);

/** When it tries again. */
export const retryAt = (clock: Clock, failures: number): Date => afterMs(clock, retryMs(failures));
