const decimalPattern = /^(\d+)(?:\.(\d+))?$/;

/**
 * Compares two amounts exactly: negative if `left` is less, 0 if they are equal, positive if it is more.
 * Both are plain decimals of whole tokens, as every answer and webhook has them; anything else throws a
 * RangeError. Numbers of JavaScript would call 0.1 + 0.2 more than 0.3.
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
  // A number would have been turned into text without a word.
  if (typeof amount !== "string" || whole === undefined) {
    throw new RangeError("an amount is a plain decimal, such as 25 or 0.1");
  }
  return [whole, fraction];
};
