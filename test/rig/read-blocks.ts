/** Returns the fenced code blocks of one section of a page, in order, each with its language. */
export const readBlocks = (page: string, heading: string): { language: string; text: string }[] => {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", block = ""]) => ({
    language,
    text: block,
  }));
};
