import type { Language } from "@payment-links/http";

/** The locale that formats numbers and times for each language. */
export const locales = { en: "en-GB", de: "de-DE" } as const satisfies Record<Language, string>;
