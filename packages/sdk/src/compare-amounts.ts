const decimalPattern = /^(\d+)(?:\.(\d+))?$/;

/**
 * Compares two amounts exactly. Returns -1 if `left` is smaller, 0 if they are equal, and 1 if
 * `left` is larger. Both must be plain decimals in whole tokens, as in every response and webhook.
 * Throws a `RangeError` otherwise. JavaScript numbers would be inexact: 0.1 + 0.2 is greater than
 * 0.3.
 */
export const compareAmounts = (left: string, right: string): number => {
  const [leftWhole, leftFraction] = splitAmount(left);
  const [rightWhole, rightFraction] = splitAmount(right);
  const fractionDigits = Math.max(leftFraction.length, rightFraction.length);
  const difference =
    BigInt(leftWhole + leftFraction.padEnd(fractionDigits, "0")) -
    BigInt(rightWhole + rightFraction.padEnd(fractionDigits, "0"));
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
};

const splitAmount = (amount: string): [whole: string, fraction: string] => {
  const [, whole, fraction = ""] = decimalPattern.exec(amount) ?? [];
  // `exec` silently converts a number to a string, so the type is checked as well.
  if (typeof amount !== "string" || whole === undefined) {
    throw new RangeError("an amount must be a plain decimal, such as 25 or 0.1");
  }
  return [whole, fraction];
};
