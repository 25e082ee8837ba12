import type { Request } from "express";

/**
 * Creates a function that returns the language that a browser prefers, or English if it accepts none
 * of the languages. A browser accepts a language in any region, such as `pt-BR` for `pt-PT`, but only
 * in the same script: Chinese in traditional characters, such as `zh-TW`, is not `zh-Hans`.
 */
export const createLanguageNegotiator = <Language extends string>(
  languages: readonly Language[],
) => {
  const languageByScript = new Map(languages.map((language) => [addScript(language), language]));
  return (req: Request): Language | "en" => {
    for (const tag of req.acceptsLanguages()) {
      if (tag === "*") break;
      const language = languageByScript.get(addScript(tag));
      if (language !== undefined) return language;
    }
    return "en";
  };
};

/** Returns a language tag without its region and with its likely script, such as `zh-Hans`. */
const addScript = (tag: string): string | undefined => {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    // The tag is malformed.
    return undefined;
  }
};

/** The type of a translation: the same structure and names, with text in another language. */
export type Translated<Texts> = {
  readonly [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};
