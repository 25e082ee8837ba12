/** The bounds of a growing delay. */
export type Backoff = { initialMs: number; maxMs: number };

const doublingsMax = 16;

/**
 * Returns the delay after this many consecutive failures. It doubles with each failure, up to
 * `maxMs`.
 */
export const backoffMs = (failureCount: number, { initialMs, maxMs }: Backoff): number =>
  Math.min(initialMs * 2 ** Math.min(failureCount - 1, doublingsMax), maxMs);
