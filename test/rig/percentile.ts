/**
 * Returns the value below which the given fraction of the values lies, or NaN for an empty list.
 */
export const percentile = (values: readonly number[], fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * fraction)] ?? Number.NaN;
