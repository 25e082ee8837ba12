import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { designTokens } from "@payment-links/design";

/** The URLs of the files that a page loads. Each changes when the content of its file changes. */
export type Assets = { style: string; script: string; search: string };

type File = readonly [path: string, text: string];

const readAppFile = (name: string): string =>
  readFileSync(new URL(`../../app/${name}`, import.meta.url), "utf8");

const createAsset = (name: string, text: string): { url: string; file: File } => {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const fileName = name.replace(".", `-${digest}.`);
  return { url: `/docs/assets/${fileName}`, file: [`assets/${fileName}`, text] };
};

/**
 * Creates the files that pages load. The search and its index are loaded when a reader first
 * searches, so the search script contains the URLs of both.
 */
export const createAssets = (searchIndex: string): { assets: Assets; files: readonly File[] } => {
  const style = createAsset("docs.css", `${designTokens}${readAppFile("docs.css")}`);
  const script = createAsset("docs.js", readAppFile("docs.js"));
  const library = createAsset("minisearch.js", readSearchLibrary());
  const index = createAsset("search-index.json", searchIndex);
  const search = createAsset(
    "search.js",
    readAppFile("search.js")
      .replace('"minisearch"', JSON.stringify(library.url))
      .replace('"./search-index.json"', JSON.stringify(index.url)),
  );
  return {
    assets: { style: style.url, script: script.url, search: search.url },
    files: [style, script, library, index, search].map(({ file }) => file),
  };
};

const readSearchLibrary = (): string => {
  const text = readFileSync(fileURLToPath(import.meta.resolve("minisearch")), "utf8");
  // The source map is not served.
  return text.replace(/^\/\/# sourceMappingURL=.*$/m, "");
};
