import { Decimal as DecimalBase } from "decimal.js";
import * as z from "zod";

/**
 * The only number type for money. A precision of 200 digits holds the sum of any two accepted
 * amounts of 78 digits. The library's default of 20 would silently lose digits of token amounts.
 * Its text never has an exponent, so amounts in templates and in JSON are plain decimals.
 */
export const Decimal = DecimalBase.clone({
  precision: 200,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  defaults: true,
});
export type Decimal = InstanceType<typeof Decimal>;

/** An EVM `uint256` has at most this many decimal digits. */
const baseUnitDigitsMax = 78;

/**
 * More decimal places than any token has. A finer amount could not be stored or published in an
 * event.
 */
const decimalPlacesMax = 100;

const exponentDigitsMax = 6;
const plainAmountPattern = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;
// Each text matches in only one way. With `\d+\.?\d*`, the engine would try every way to split a
// long run of digits.
const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?$/;
const nonFinitePattern = /^[+-]?(?:s?nan\d*|inf(?:inity)?)$/i;

/** Formats an amount for responses and events: a plain decimal without exponent or trailing zeros. */
export const formatAmount = (amount: Decimal): string => amount.toFixed();

/**
 * An amount as services and rows exchange it: a plain decimal string on the wire, a Decimal in
 * memory.
 */
export const Amount = z.codec(
  z.string().max(200).regex(plainAmountPattern),
  z.custom<Decimal>((value) => DecimalBase.isDecimal(value)),
  { decode: (text) => new Decimal(text), encode: formatAmount },
);

export type DecimalErrorCode = "decimal_parsing" | "finite_number" | "decimal_max_digits";

/**
 * Parses a decimal from untrusted input, as pydantic does: surrounding whitespace, a sign and an
 * exponent are allowed. Rejects an exponent that no token amount can have before it does work
 * proportional to the exponent (rule API-14).
 */
export const parseDecimal = (text: string): Decimal | DecimalErrorCode => {
  const trimmed = text.trim();
  if (nonFinitePattern.test(trimmed)) return "finite_number";
  const match = decimalPattern.exec(trimmed);
  if (match === null) return "decimal_parsing";
  const exponentDigits = match[1]?.replace(/^[+-]?0*/, "") ?? "";
  if (exponentDigits.length > exponentDigitsMax) return "decimal_max_digits";
  const value = new Decimal(trimmed);
  const isTooLong =
    value.precision() > baseUnitDigitsMax ||
    value.e >= baseUnitDigitsMax ||
    value.decimalPlaces() > decimalPlacesMax;
  return isTooLong ? "decimal_max_digits" : value;
};

/** Returns whether an amount is a whole number of a token's base units. */
export const fitsDecimals = (amount: Decimal, decimals: number): boolean =>
  amount.decimalPlaces() <= decimals;

/** Returns whether an amount in base units fits the 78 digits of an EVM `uint256`. */
export const fitsBaseUnits = (amount: Decimal, decimals: number): boolean =>
  amount.e + 1 + decimals <= baseUnitDigitsMax;
