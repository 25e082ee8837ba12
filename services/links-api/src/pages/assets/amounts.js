/**
 * Formats a decimal string with the digit grouping of the visitor's locale. It is never converted
 * to a float, which would lose digits.
 */
export const formatDecimal = (decimal) => {
  const [whole, fraction] = decimal.split(".");
  const format = new Intl.NumberFormat(undefined, { numberingSystem: "latn" });
  if (fraction === undefined) return format.format(BigInt(whole));
  const point = format.formatToParts(1.1).find(({ type }) => type === "decimal").value;
  return `${format.format(BigInt(whole))}${point}${fraction}`;
};
