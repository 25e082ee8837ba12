/** What that share of some numbers stays below; NaN of none. */
export const percentile = (values: readonly number[], fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * fraction)] ?? Number.NaN;
