/** The languages in which a page's words may be there. English always is. */
type Words<T> = { en: T } & Partial<Record<string, T>>;

/** The page's words in the first of the person's languages that there is. */
export const choose = <T>(words: Words<T>): T => {
  for (const tag of navigator.languages) {
    const found = words[tag.split("-", 1)[0] ?? ""];
    if (found !== undefined) return found;
  }
  return words.en;
};
