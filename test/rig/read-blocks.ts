type Block = { language: string; text: string };

/** Returns the fenced code blocks of one section of a page, in order, each with its language. */
export const readBlocks = (page: string, heading: string): Block[] => {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return readAllBlocks(text);
};

/**
 * Returns all fenced code blocks of a text, in order, each with its language. `tab=<label>` after
 * the language makes a block one of several alternatives.
 */
export const readAllBlocks = (text: string): Block[] =>
  [...text.matchAll(/^```(\w*)(?: tab=\S+)?\n(.*?)^```$/gms)].map(
    ([, language = "", block = ""]) => ({
      language,
      text: block,
    }),
  );
