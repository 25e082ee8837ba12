import { type ManualPaymentTexts, manualPaymentTexts } from "./manual-payment-texts.ts";
import { manualPaymentTextsGerman } from "./manual-payment-texts-german.ts";
import type { Localization } from "./localization.ts";

const textsByLanguage: Readonly<Record<Localization["language"], ManualPaymentTexts>> = {
  en: manualPaymentTexts,
  de: manualPaymentTextsGerman,
};

/**
 * Returns the texts for payments that the page's script does not make, in the language of a page.
 */
export const getManualPaymentTexts = ({
  language,
}: Pick<Localization, "language">): ManualPaymentTexts => textsByLanguage[language];
