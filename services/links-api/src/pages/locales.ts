import type { Language } from "@payment-links/http";

/** The locale in which each language formats numbers and times. */
export const locales = { en: "en-GB", de: "de-DE" } as const satisfies Record<Language, string>;
