import { Decimal as DecimalBase } from "decimal.js";
import * as z from "zod";

/**
 * The only number type for money. 200 digits hold the sum of any two amounts that the 78-digit rule
 * lets in, and the library's default of 20 would silently lose token amounts. Its text never has an
 * exponent, so that an amount in a template or in JSON is plain too.
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
 * No token has that many places. A finer amount could neither be stored nor carried in an event.
 */
const decimalPlacesMax = 100;

const exponentDigitsMax = 6;
const plainAmountPattern = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;
// There is one way to match each text. With `\d+\.?\d*` a long run of digits would be tried in
// every split.
const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?$/;
const nonFinitePattern = /^[+-]?(?:s?nan\d*|inf(?:inity)?)$/i;

/** Writes an amount as the wire wants it: plain decimal, no exponent, no trailing zeros. */
export const formatAmount = (amount: Decimal): string => amount.toFixed();

/** An amount between our own services and rows: a plain decimal string on the wire, a Decimal in memory. */
export const Amount = z.codec(
  z.string().max(200).regex(plainAmountPattern),
  z.custom<Decimal>((value) => DecimalBase.isDecimal(value)),
  { decode: (text) => new Decimal(text), encode: formatAmount },
);

export type DecimalErrorCode = "decimal_parsing" | "finite_number" | "decimal_max_digits";

/**
 * Reads a stranger's decimal, as pydantic does: surrounding blanks, a sign and an exponent are
 * allowed. An exponent that no token amount can have is refused before any work proportional to it
 * (rule API-14).
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

/** Whether an amount is a whole number of a token's base units. */
export const fitsDecimals = (amount: Decimal, decimals: number): boolean =>
  amount.decimalPlaces() <= decimals;

/** Whether an amount, in base units, fits the 78 digits of an EVM `uint256`. */
export const fitsBaseUnits = (amount: Decimal, decimals: number): boolean =>
  amount.e + 1 + decimals <= baseUnitDigitsMax;
