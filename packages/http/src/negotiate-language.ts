import type { Request } from "express";

/** Returns the language that a browser prefers, or English if it accepts none of the languages. */
export const negotiateLanguage = <Language extends string>(
  req: Request,
  languages: readonly Language[],
): Language | "en" => {
  const preferred = req.acceptsLanguages([...languages]);
  return languages.find((language) => language === preferred) ?? "en";
};

/** The type of a translation: the same structure and names, with text in another language. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};
