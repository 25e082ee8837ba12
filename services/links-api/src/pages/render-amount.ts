import { type Html, html } from "@payment-links/http";
import { type Language, mapLocales } from "./languages.ts";

type AmountFormat = { groupInteger: (integer: bigint) => string; decimalSeparator: string };

const createAmountFormat = (locale: string): AmountFormat => {
  const numberFormat = new Intl.NumberFormat(locale);
  const decimalPart = numberFormat.formatToParts(1.1).find(({ type }) => type === "decimal");
  return {
    groupInteger: (integer) => numberFormat.format(integer),
    decimalSeparator: decimalPart?.value ?? ".",
  };
};

/** Built once, because building a number format takes longer than rendering the amount. */
const formatByLanguage = mapLocales(createAmountFormat);

/**
 * Groups an amount's digits for a language. Does not convert it to a float, which would lose
 * digits.
 */
export const groupDigits = (amount: string, language: Language): string => {
  const { groupInteger, decimalSeparator } = formatByLanguage[language];
  const [integerPart = "", fraction] = amount.split(".");
  const integer = groupInteger(BigInt(integerPart));
  return fraction === undefined ? integer : `${integer}${decimalSeparator}${fraction}`;
};

/** Renders an amount. The page's script regroups its digits in the visitor's locale. */
export const renderAmount = (amount: string, language: Language): Html =>
  html`<data value="${amount}">${groupDigits(amount, language)}</data>`;
