import { createRequire } from "node:module";

type Highlighter = {
  registerLanguage(name: string, language: unknown): void;
  highlight(text: string, options: { language: string }): { value: string };
};

// Imports without the package's types, which would add the types of browsers to the whole project.
const require = createRequire(import.meta.url);
const highlighter = require("highlight.js/lib/core") as Highlighter;

for (const name of [
  "bash",
  "go",
  "java",
  "javascript",
  "json",
  "php",
  "python",
  "ruby",
  "sql",
  "typescript",
  "yaml",
])
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));

/** Returns code as HTML, with a class for each kind of token. */
export const highlight = (code: string, language: string): string =>
  highlighter.highlight(code, { language }).value;
