import { formatAmount } from "../../ui/format.ts";

/**
 * Parses an amount as people write it: with the group and decimal separators of a locale, and with
 * a currency sign or the token's symbol. Returns the decimal with a point, or undefined if the
 * text is not a positive amount or could be read in two ways.
 */
export const parseAmount = (input: string, symbol: string, locale?: string): string | undefined => {
  const number = toStraightApostrophes(removeUnit(input.trim(), symbol)).replaceAll(
    spaceBetweenGroups,
    "",
  );
  const { group, decimal } = getSeparators(locale);
  const grouped = new RegExp(
    String.raw`^(\d{1,3}(?:[${group}]\d{2,3})*[${group}]\d{3})(?:[${decimal}](\d+))?$`,
  ).exec(number);
  const amount =
    grouped === null
      ? number.replace(decimal, ".")
      : [grouped[1]?.replaceAll(group, ""), grouped[2] ?? []].flat().join(".");
  return decimalPattern.test(amount) && /[1-9]/.test(amount) ? amount : undefined;
};

/**
 * Formats a decimal with a point as a user of the locale would enter it. Returns the decimal itself
 * if {@link parseAmount} would read the formatted text differently.
 */
export const formatAmountInput = (amount: string, symbol: string, locale?: string): string => {
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 100, useGrouping: false });
  const input = formatAmount(amount, format);
  return parseAmount(input, symbol, locale) === amount ? input : amount;
};

const decimalPattern = /^(\d+(\.\d*)?|\.\d+)$/;
const spaceBetweenGroups = /(?<=\d)\s(?=\d{3}(?!\d))/g;

/** Removes one currency sign or the token's symbol, before or after the number. */
const removeUnit = (text: string, symbol: string): string => {
  const isUnit = (part: string) =>
    /^\p{Sc}$/u.test(part) || part.toLowerCase() === symbol.toLowerCase();
  const [, before = "", number = "", after = ""] =
    /^([^\d.,]*?)\s*([\d.,].*?)\s*([^\d.,]*)$/u.exec(text) ?? [];
  const hasOneUnit = (before === "" || isUnit(before)) && (after === "" || isUnit(after));
  return hasOneUnit && (before === "" || after === "") ? number : text;
};

/** People type either apostrophe, and browsers differ in the one that a locale has. */
const toStraightApostrophes = (text: string): string => text.replaceAll("’", "'");

const getSeparators = (locale: string | undefined): { group: string; decimal: string } => {
  const parts = new Intl.NumberFormat(locale, { useGrouping: true }).formatToParts(1_234_567.8);
  const find = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  return { group: toStraightApostrophes(find("group")), decimal: find("decimal") };
};
