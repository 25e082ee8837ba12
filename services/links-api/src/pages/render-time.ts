import { type Html, html } from "@payment-links/http";
import type { Language } from "@payment-links/http";
import { locales } from "./locales.ts";

const formatInstant = (instant: Date, language: Language): string =>
  new Intl.DateTimeFormat(locales[language], {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(instant);

/** Renders a time in UTC, because the server does not know the visitor's time zone. */
export const renderTime = (instant: Date, language: Language): Html =>
  html`<time datetime="${instant.toISOString()}">${formatInstant(instant, language)} UTC</time>`;
