import type { Request } from "express";
import { type Language, getLanguage, languages } from "./languages.ts";
import type { Texts } from "./languages/en.ts";

/** The language of a checkout or a receipt, and its texts. */
export type Localization = {
  language: Language;
  texts: Texts["checkout"];
  manualPaymentTexts: Texts["manualPayment"];
  tronTexts: Texts["tron"];
};

/** Returns the texts of a checkout or a receipt in the language that the browser requests. */
export const getLocalization = (req: Request): Localization => {
  const language = getLanguage(req);
  const { checkout, manualPayment, tron } = languages[language].texts;
  return { language, texts: checkout, manualPaymentTexts: manualPayment, tronTexts: tron };
};

/**
 * Replaces the placeholders in a text with values. Placeholders without a value are not replaced.
 */
export const fillPlaceholders = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
