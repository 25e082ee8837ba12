import type { Request } from "express";
import { createLanguageNegotiator } from "@payment-links/http";
import { german } from "./languages/de.ts";
import { english, type Texts } from "./languages/en.ts";
import { spanish } from "./languages/es.ts";
import { french } from "./languages/fr.ts";
import { italian } from "./languages/it.ts";
import { japanese } from "./languages/ja.ts";
import { portuguese } from "./languages/pt-br.ts";
import { chinese } from "./languages/zh-hans.ts";

/**
 * The texts of each language, and the locale that formats its numbers and times. The names are the
 * values of `<html lang>`.
 */
export const languages = {
  en: { texts: english, locale: "en-GB" },
  de: { texts: german, locale: "de-DE" },
  es: { texts: spanish, locale: "es" },
  fr: { texts: french, locale: "fr" },
  it: { texts: italian, locale: "it" },
  ja: { texts: japanese, locale: "ja" },
  "pt-BR": { texts: portuguese, locale: "pt-BR" },
  "zh-Hans": { texts: chinese, locale: "zh-Hans" },
} as const satisfies Record<string, { texts: Texts; locale: string }>;

export type Language = keyof typeof languages;

const languageNames = Object.keys(languages) as Language[];

/** Creates something for the locale of each language, for example a number format. */
export const mapLocales = <T>(create: (locale: string) => T): Readonly<Record<Language, T>> =>
  Object.fromEntries(
    Object.entries(languages).map(([language, { locale }]) => [language, create(locale)]),
  ) as Record<Language, T>;

/** Returns the language of a page for the browser that requests it. */
export const getLanguage = createLanguageNegotiator(languageNames);

/** Returns all texts in the language that the browser requests. */
export const getTexts = (req: Request): Texts => languages[getLanguage(req)].texts;
