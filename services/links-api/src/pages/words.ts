import type { Request } from "express";
import { type Language, chooseLanguage } from "@payment-links/http";
import { type CheckoutTexts, checkoutTexts } from "./checkout-texts.ts";
import { checkoutTextsGerman } from "./checkout-texts-german.ts";

/** What a checkout or a receipt says to its reader. */
export type Words = { language: Language; texts: CheckoutTexts };

const all: Readonly<Record<Language, CheckoutTexts>> = {
  en: checkoutTexts,
  de: checkoutTextsGerman,
};

/** The words of a checkout or a receipt, in the language that a browser asks for. */
export const wordsFor = (req: Request): Words => {
  const language = chooseLanguage(req);
  return { language, texts: all[language] };
};

/** Fills values into a text's places. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
