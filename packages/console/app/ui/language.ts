/** The supported languages. */
type Language = "en" | "de";

/** The texts of a view. Every language has the same keys. */
type Translations<T> = { en: T; de: NoInfer<T> };

const isSupportedLanguage = (language: string): language is Language =>
  language === "en" || language === "de";

/** The first of the user's preferred languages that the console supports. */
export const language: Language =
  navigator.languages.map((tag) => tag.split("-", 1)[0] ?? "").find(isSupportedLanguage) ?? "en";

/** Returns the texts in the user's language. */
export const pickTranslation = <T>(translations: Translations<T>): T => translations[language];
