import type { Request } from "express";

/** The languages of our pages. */
export type Language = "en" | "de";

/** Returns the supported language that a browser prefers, or English if it accepts neither. */
export const negotiateLanguage = (req: Request): Language => {
  const preferred = req.acceptsLanguages("en", "de");
  return preferred === "de" ? "de" : "en";
};

/** The type of a translation: the same structure and names, with text in another language. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};
