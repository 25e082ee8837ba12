/** The bounds of an exponential backoff. */
export type Backoff = { initialMs: number; maxMs: number };

const doublingsMax = 16;

/**
 * Returns the delay after this many consecutive failures. The delay doubles with each failure, up
 * to `maxMs`.
 */
export const backoffMs = (failureCount: number, { initialMs, maxMs }: Backoff): number =>
  Math.min(initialMs * 2 ** Math.min(failureCount - 1, doublingsMax), maxMs);
