/** At most this number of grid lines above zero. */
const stepsMax = 4;

/**
 * Returns the values of the grid lines from zero to at least the maximum, in round steps of 1, 2 or
 * 5 times a power of ten.
 */
export const computeTicks = (maximum: number): number[] => {
  if (!(maximum > 0)) return [0, 1];
  const roughStep = maximum / stepsMax;
  const magnitude = 10 ** Math.floor(Math.log10(roughStep));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * magnitude >= roughStep) ?? 10;
  const step = factor * magnitude;
  const stepCount = Math.max(1, Math.ceil(maximum / step - 1e-9));
  // Rounding removes the error of a binary fraction, such as 0.30000000000000004.
  return Array.from({ length: stepCount + 1 }, (_none, index) =>
    Number((index * step).toPrecision(12)),
  );
};

/**
 * Returns which of `count` positions get a label, so that at most `labelsMax` do. The last position
 * always has one.
 */
export const pickLabels = (count: number, labelsMax: number): number[] => {
  const step = Math.ceil(count / Math.max(1, labelsMax));
  return Array.from({ length: count }, (_none, index) => index).filter(
    (index) => (count - 1 - index) % step === 0,
  );
};
