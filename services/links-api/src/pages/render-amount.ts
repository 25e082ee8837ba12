import { type Html, html } from "@payment-links/http";
import type { Language } from "@payment-links/http";
import { locales } from "./locales.ts";

/** Groups an amount's digits for a language. It never uses a float, which would lose digits. */
export const groupDigits = (amount: string, language: Language): string => {
  const [integerPart = "", fraction] = amount.split(".");
  const numberFormat = new Intl.NumberFormat(locales[language]);
  const decimalSeparator =
    numberFormat.formatToParts(1.1).find(({ type }) => type === "decimal")?.value ?? ".";
  return `${numberFormat.format(BigInt(integerPart))}${fraction === undefined ? "" : `${decimalSeparator}${fraction}`}`;
};

/** Renders an amount. The page's script regroups its digits in the visitor's locale. */
export const renderAmount = (amount: string, language: Language): Html =>
  html`<data value="${amount}">${groupDigits(amount, language)}</data>`;
