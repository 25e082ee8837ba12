import { type TronTexts, tronTexts } from "./tron-texts.ts";
import { tronTextsGerman } from "./tron-texts-german.ts";
import type { Words } from "./words.ts";

const all: Readonly<Record<Words["language"], TronTexts>> = { en: tronTexts, de: tronTextsGerman };

/** What the script of a checkout on Tron says otherwise, in the language of a page. */
export const tronTextsFor = ({ language }: Pick<Words, "language">): TronTexts => all[language];
