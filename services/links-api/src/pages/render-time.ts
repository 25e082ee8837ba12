import { type Html, html } from "@payment-links/http";
import type { Language } from "@payment-links/http";
import { locales } from "./locales.ts";

const createTimeFormat = (language: Language): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locales[language], {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });

/** Built once, like the formats of amounts. */
const formatByLanguage: Record<Language, Intl.DateTimeFormat> = {
  en: createTimeFormat("en"),
  de: createTimeFormat("de"),
};

/** Renders a time in UTC, because the server does not know the visitor's time zone. */
export const renderTime = (instant: Date, language: Language): Html => {
  const text = `${formatByLanguage[language].format(instant)} UTC`;
  return html`<time datetime="${instant.toISOString()}">${text}</time>`;
};
