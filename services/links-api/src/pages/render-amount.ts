import { type Html, html } from "@payment-links/http";
import type { Language } from "@payment-links/http";
import { locales } from "./locales.ts";

/** Groups an amount's digits as a language does, and keeps each of them: it never is a float. */
export const groupDigits = (amount: string, language: Language): string => {
  const [integerPart = "", fraction] = amount.split(".");
  const numberFormat = new Intl.NumberFormat(locales[language]);
  const decimalSeparator =
    numberFormat.formatToParts(1.1).find(({ type }) => type === "decimal")?.value ?? ".";
  return `${numberFormat.format(BigInt(integerPart))}${fraction === undefined ? "" : `${decimalSeparator}${fraction}`}`;
};

/** An amount in a page; the script groups its digits as the reader's own language does. */
export const renderAmount = (amount: string, language: Language): Html =>
  html`<data value="${amount}">${groupDigits(amount, language)}</data>`;
