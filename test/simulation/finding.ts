/** An invariant violation that the simulation has found. */
export class Finding extends Error {
  override readonly name = "Finding";
}

/** Throws a {@link Finding} if the condition is false. */
export const assertInvariant: (
  isTrue: boolean,
  describeViolation: () => string,
) => asserts isTrue = (isTrue, describeViolation) => {
  if (!isTrue) throw new Finding(describeViolation());
};
