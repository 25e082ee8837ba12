import type { Request } from "express";

/** The languages of our pages. */
export type Language = "en" | "de";

/** The language that a browser asks for most; English for whoever speaks none of ours. */
export const negotiateLanguage = (req: Request): Language => {
  const preferred = req.acceptsLanguages("en", "de");
  return preferred === "de" ? "de" : "en";
};

/** The same texts in another language: as many, under the same names. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};
