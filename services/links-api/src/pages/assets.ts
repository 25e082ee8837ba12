import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

type Asset = { name: string; type: string; text: string; digest: string };

const mediaTypes: Readonly<Record<string, string>> = {
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

const importPattern = /^import (?:(\{[^}]*\}) from )?"(\.\/[\w-]+\.js)";$/gm;

const readAssetText = (name: string): string =>
  readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");

/** Lists a module after all modules that it imports, each once. */
const listModules = (collected: readonly string[], name: string): readonly string[] => {
  if (collected.includes(name)) return collected;
  const imported = [...readAssetText(name).matchAll(importPattern)].map(([, , path = ""]) => path);
  return [...imported.reduce(listModules, collected), name];
};

/** Wraps a module in a function that hides its names and returns its exports. */
const wrapModule = (name: string): string => {
  const text = readAssetText(name);
  const exportedNames = [...text.matchAll(/^export const (\w+)/gm)].map(
    ([, exportedName = ""]) => exportedName,
  );
  const body = text
    .replaceAll(importPattern, (_, names: string | undefined, path: string) =>
      names === undefined ? "" : `const ${names} = modules["${path}"];`,
    )
    .replaceAll(/^export /gm, "");
  return `modules["${name}"] = (() => {\n${body}\nreturn { ${exportedNames.join(", ")} };\n})();\n`;
};

/**
 * Bundles a script with everything it imports. With a single file, a page cannot mix modules of two
 * versions.
 */
const bundleModules = (name: string): string => {
  const modules = listModules([], `./${name}`).map(wrapModule);
  return `"use strict";\n{\nconst modules = {};\n${modules.join("")}}\n`;
};

const loadAsset = (name: string): Asset => {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const text = extension === "js" ? bundleModules(name) : readAssetText(name);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name, type: mediaTypes[extension] ?? "", text, digest };
};

/** The files that pages refer to, read once. */
const assets = ["icon.svg", "page.css", "page.js", "followed.js", "checkout.js", "tron.js"].map(
  loadAsset,
);

/** Finds a static file by its name. */
export const findAsset = (name: string): Asset | undefined =>
  assets.find((asset) => asset.name === name);

/**
 * Returns the URL of a static file. It changes with the content, so browsers may cache the file
 * forever.
 */
export const buildAssetUrl = (name: string): string => {
  const asset = findAsset(name);
  if (asset === undefined) throw new Error(`no file ${name} of the pages was read`);
  return `/checkout/assets/${name}?v=${asset.digest}`;
};
