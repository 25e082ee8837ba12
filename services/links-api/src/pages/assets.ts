import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

type Asset = { name: string; type: string; text: string; digest: string };

const types: Readonly<Record<string, string>> = {
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

const imports = /^import (?:(\{[^}]*\}) from )?"(\.\/[\w-]+\.js)";$/gm;

const read = (name: string): string =>
  readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");

/** A module's name after the names of all that it imports, each of them once. */
const listModules = (found: readonly string[], name: string): readonly string[] => {
  if (found.includes(name)) return found;
  const imported = [...read(name).matchAll(imports)].map(([, , path = ""]) => path);
  return [...imported.reduce(listModules, found), name];
};

/** A module as a function, which keeps its names to itself and answers what it exports. */
const wrapModule = (name: string): string => {
  const text = read(name);
  const exported = [...text.matchAll(/^export const (\w+)/gm)].map(([, one = ""]) => one);
  const body = text
    .replaceAll(imports, (_, names: string | undefined, path: string) =>
      names === undefined ? "" : `const ${names} = modules["${path}"];`,
    )
    .replaceAll(/^export /gm, "");
  return `modules["${name}"] = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();\n`;
};

/** A script with all that it imports. Of one file a page cannot mix two versions, either. */
const joinModules = (name: string): string => {
  const modules = listModules([], `./${name}`).map(wrapModule);
  return `"use strict";\n{\nconst modules = {};\n${modules.join("")}}\n`;
};

const load = (name: string): Asset => {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const text = extension === "js" ? joinModules(name) : read(name);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name, type: types[extension] ?? "", text, digest };
};

/** The files that pages refer to, read once. */
const assets = ["icon.svg", "page.css", "page.js", "followed.js", "checkout.js", "tron.js"].map(
  load,
);

/** Finds a static file by its name. */
export const findAsset = (name: string): Asset | undefined =>
  assets.find((asset) => asset.name === name);

/**
 * The address of a static file. It changes with the content, so browsers may keep the file for
 * ever.
 */
export const assetUrl = (name: string): string => {
  const asset = findAsset(name);
  if (asset === undefined) throw new Error(`no file ${name} of the pages was read`);
  return `/checkout/assets/${name}?v=${asset.digest}`;
};
