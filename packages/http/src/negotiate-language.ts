import type { Request } from "express";

/** The languages of our pages. */
export type Language = "en" | "de";

/** Returns the supported language that a browser prefers; English if it accepts none of them. */
export const negotiateLanguage = (req: Request): Language => {
  const preferred = req.acceptsLanguages("en", "de");
  return preferred === "de" ? "de" : "en";
};

/** The same texts in another language: the same structure with the same names. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};
