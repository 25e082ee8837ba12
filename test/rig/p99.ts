/** The 99th percentile of some numbers; NaN of none. */
export const p99 = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.99)] ?? Number.NaN;
