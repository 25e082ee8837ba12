import type { Request } from "express";
import { type Language, negotiateLanguage } from "@payment-links/http";
import { type CheckoutTexts, checkoutTexts } from "./checkout-texts.ts";
import { checkoutTextsGerman } from "./checkout-texts-german.ts";

/** What a checkout or a receipt says to its reader. */
export type Localization = { language: Language; texts: CheckoutTexts };

const textsByLanguage: Readonly<Record<Language, CheckoutTexts>> = {
  en: checkoutTexts,
  de: checkoutTextsGerman,
};

/** The words of a checkout or a receipt, in the language that a browser asks for. */
export const getLocalization = (req: Request): Localization => {
  const language = negotiateLanguage(req);
  return { language, texts: textsByLanguage[language] };
};

/** Fills values into a text's places. */
export const fillPlaceholders = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
