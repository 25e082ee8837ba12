/** Between which bounds a wait grows. */
export type Backoff = { firstMs: number; mostMs: number };

const doublingsMax = 16;

/** How long to wait after so many failures in a row: twice as long after each, up to the most. */
export const backoffMs = (failures: number, { firstMs, mostMs }: Backoff): number =>
  Math.min(firstMs * 2 ** Math.min(failures - 1, doublingsMax), mostMs);
