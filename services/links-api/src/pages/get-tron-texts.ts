import { type TronTexts, tronTexts } from "./tron-texts.ts";
import { tronTextsGerman } from "./tron-texts-german.ts";
import type { Localization } from "./localization.ts";

const textsByLanguage: Readonly<Record<Localization["language"], TronTexts>> = {
  en: tronTexts,
  de: tronTextsGerman,
};

/** Returns the script texts that are different in a Tron checkout, in the language of a page. */
export const getTronTexts = ({ language }: Pick<Localization, "language">): TronTexts =>
  textsByLanguage[language];
