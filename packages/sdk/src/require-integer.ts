/** Throws a `TypeError` if an option is not an integer from 1 to `max`. */
export const requireIntegerInRange = (name: string, value: number, max: number): void => {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new TypeError(`${name} must be an integer from 1 to ${max}`);
};
