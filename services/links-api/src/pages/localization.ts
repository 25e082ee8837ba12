import type { Request } from "express";
import { type Language, negotiateLanguage } from "@payment-links/http";
import { type CheckoutTexts, checkoutTexts } from "./checkout-texts.ts";
import { checkoutTextsGerman } from "./checkout-texts-german.ts";

/** The language of a checkout or a receipt, and its texts. */
export type Localization = { language: Language; texts: CheckoutTexts };

const textsByLanguage: Readonly<Record<Language, CheckoutTexts>> = {
  en: checkoutTexts,
  de: checkoutTextsGerman,
};

/** Returns the texts of a checkout or a receipt in the language that the browser requests. */
export const getLocalization = (req: Request): Localization => {
  const language = negotiateLanguage(req);
  return { language, texts: textsByLanguage[language] };
};

/**
 * Replaces the placeholders in a text with values. Placeholders without a value are not replaced.
 */
export const fillPlaceholders = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
