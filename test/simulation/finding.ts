/** Something that must never be: what the simulation looks for. */
export class Finding extends Error {
  override readonly name = "Finding";
}

/** Throws a {@link Finding} unless this holds. */
export const hold: (isTrue: boolean, otherwise: () => string) => asserts isTrue = (
  isTrue,
  otherwise,
) => {
  if (!isTrue) throw new Finding(otherwise());
};
