/** Something that must never be: what the simulation looks for. */
export class Finding extends Error {
  override readonly name = "Finding";
}

/** Throws a {@link Finding} unless this holds. */
export const assertInvariant: (
  isTrue: boolean,
  describeViolation: () => string,
) => asserts isTrue = (isTrue, describeViolation) => {
  if (!isTrue) throw new Finding(describeViolation());
};
