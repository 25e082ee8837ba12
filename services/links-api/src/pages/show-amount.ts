import { type Html, html } from "@payment-links/http";
import type { Language } from "@payment-links/http";
import { locales } from "./languages.ts";

/** Groups an amount's digits as a language does, and keeps each of them: it never is a float. */
export const groupDigits = (amount: string, language: Language): string => {
  const [whole = "", fraction] = amount.split(".");
  const format = new Intl.NumberFormat(locales[language]);
  const point = format.formatToParts(1.1).find(({ type }) => type === "decimal")?.value ?? ".";
  return `${format.format(BigInt(whole))}${fraction === undefined ? "" : `${point}${fraction}`}`;
};

/** An amount in a page; the script groups its digits as the reader's own language does. */
export const showAmount = (amount: string, language: Language): Html =>
  html`<data value="${amount}">${groupDigits(amount, language)}</data>`;
