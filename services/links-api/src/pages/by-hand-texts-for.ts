import { type ByHandTexts, byHandTexts } from "./by-hand-texts.ts";
import { byHandTextsGerman } from "./by-hand-texts-german.ts";
import type { Words } from "./words.ts";

const all: Readonly<Record<Words["language"], ByHandTexts>> = {
  en: byHandTexts,
  de: byHandTextsGerman,
};

/** The words of paying by a request or by hand, in the language of a page. */
export const byHandTextsFor = ({ language }: Pick<Words, "language">): ByHandTexts => all[language];
