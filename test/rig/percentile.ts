/** What that share of some numbers stays below; NaN of none. */
export const percentile = (list: readonly number[], share: number): number =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length * share)] ?? Number.NaN;
