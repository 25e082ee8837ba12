import { readFileSync } from "node:fs";

/** The design tokens as CSS text, for pages that a server renders. */
export const designTokens = readFileSync(new URL("../tokens.css", import.meta.url), "utf8");

/** The product mark, which is also the icon of every page. */
export const productIcon = readFileSync(new URL("../icon.svg", import.meta.url), "utf8");
