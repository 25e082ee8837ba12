/** The languages that the console speaks. */
type Language = "en" | "de";

/** A page's words in every language: what one has, each has. */
type Translations<T> = { en: T; de: NoInfer<T> };

const isSupportedLanguage = (language: string): language is Language =>
  language === "en" || language === "de";

/** The first of the person's languages that the console speaks. */
export const language: Language =
  navigator.languages.map((tag) => tag.split("-", 1)[0] ?? "").find(isSupportedLanguage) ?? "en";

/** The page's words in the person's language. */
export const pickTranslation = <T>(translations: Translations<T>): T => translations[language];
