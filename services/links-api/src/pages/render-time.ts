import { type Html, html } from "@payment-links/http";
import { type Language, mapLocales } from "./languages.ts";

const createTimeFormat = (locale: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** Built once, like the formats of amounts. */
const formatByLanguage = mapLocales(createTimeFormat);

/** Renders a time in UTC, because the server does not know the visitor's time zone. */
export const renderTime = (instant: Date, language: Language): Html => {
  const text = `${formatByLanguage[language].format(instant)} UTC`;
  return html`<time datetime="${instant.toISOString()}">${text}</time>`;
};
