import type { Language } from "@payment-links/http";

/** The locale by which each language writes numbers and times. */
export const locales = { en: "en-GB", de: "de-DE" } as const satisfies Record<Language, string>;
