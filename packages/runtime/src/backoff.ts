/** Between which bounds a wait grows. */
export type Backoff = { initialMs: number; maxMs: number };

const doublingsMax = 16;

/** How long to wait after so many failures in a row: twice as long after each, up to the most. */
export const backoffMs = (failureCount: number, { initialMs, maxMs }: Backoff): number =>
  Math.min(initialMs * 2 ** Math.min(failureCount - 1, doublingsMax), maxMs);
