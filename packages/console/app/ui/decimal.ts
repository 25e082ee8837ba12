/** The number of decimal places that every amount fits into. */
const decimalPlacesMax = 78;

/** Converts a plain decimal to an integer, so that amounts can be added and compared exactly. */
export const toUnits = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(decimalPlacesMax, "0"));
};

/** Converts an integer of {@link toUnits} that is not negative back to a plain decimal. */
export const fromUnits = (units: bigint): string => {
  const digits = units.toString().padStart(decimalPlacesMax + 1, "0");
  const fraction = digits.slice(-decimalPlacesMax).replace(/0+$/, "");
  const whole = digits.slice(0, -decimalPlacesMax);
  return fraction === "" ? whole : `${whole}.${fraction}`;
};
