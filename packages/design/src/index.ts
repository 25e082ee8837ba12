import { readFileSync } from "node:fs";

/** The design tokens as CSS text, for pages that a server renders. */
export const designTokens = readFileSync(new URL("../tokens.css", import.meta.url), "utf8");
