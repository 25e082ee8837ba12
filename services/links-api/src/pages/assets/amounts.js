/** Groups an amount's digits as its reader does, and keeps each of them: it never is a float. */
export const grouped = (decimal) => {
  const [whole, fraction] = decimal.split(".");
  const format = new Intl.NumberFormat(undefined, { numberingSystem: "latn" });
  if (fraction === undefined) return format.format(BigInt(whole));
  const point = format.formatToParts(1.1).find(({ type }) => type === "decimal").value;
  return `${format.format(BigInt(whole))}${point}${fraction}`;
};
