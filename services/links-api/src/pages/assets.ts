import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { designTokens } from "@payment-links/design";

/** A static file of the pages. */
export type Asset = { name: string; type: string; text: string; digest: string };

const mediaTypes: Readonly<Record<string, string>> = {
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

const importPattern =
  /^import (?:(\{[^}]*\}) from )?"(?:\.\/|@payment-links\/chains\/browser-wallets\/)([\w-]+\.js)";$/gm;

const assetsUrl = new URL("assets/", import.meta.url);
/** The folder of the wallet modules, which the console uses too. */
const walletsUrl = new URL(
  "./",
  import.meta.resolve("@payment-links/chains/browser-wallets/evm-wallets.js"),
);
const walletModules = new Set(readdirSync(walletsUrl));

const readAssetText = (name: string): string => {
  const folderUrl = walletModules.has(name) ? walletsUrl : assetsUrl;
  return readFileSync(new URL(name, folderUrl), "utf8");
};

/** Lists all modules that a module imports, each only once, and then the module itself. */
const listModules = (collected: readonly string[], name: string): readonly string[] => {
  if (collected.includes(name)) return collected;
  const imported = [...readAssetText(name).matchAll(importPattern)].map(([, , file = ""]) => file);
  return [...imported.reduce(listModules, collected), name];
};

/** Wraps a module in a function that returns its exports and hides its other names. */
const wrapModule = (name: string): string => {
  const text = readAssetText(name);
  const exportedNames = [...text.matchAll(/^export const (\w+)/gm)].map(
    ([, exportedName = ""]) => exportedName,
  );
  const body = text
    .replaceAll(importPattern, (_, names: string | undefined, file: string) =>
      names === undefined ? "" : `const ${names} = modules["${file}"];`,
    )
    .replaceAll(/^export /gm, "");
  return `modules["${name}"] = (() => {\n${body}\nreturn { ${exportedNames.join(", ")} };\n})();\n`;
};

/**
 * Bundles a script with all modules that it imports. Because the bundle is a single file, a page
 * cannot load modules from two different versions.
 */
const bundleModules = (name: string): string => {
  const modules = listModules([], name).map(wrapModule);
  return `"use strict";\n{\nconst modules = {};\n${modules.join("")}}\n`;
};

const getAssetText = (name: string, extension: string): string => {
  if (extension === "js") return bundleModules(name);
  return extension === "css" ? `${designTokens}${readAssetText(name)}` : readAssetText(name);
};

const loadAsset = (name: string): Asset => {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const type = mediaTypes[extension];
  if (type === undefined) throw new Error(`unknown media type of ${name}`);
  const text = getAssetText(name, extension);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name, type, text, digest };
};

/** The static files that pages refer to, read at startup. */
const assets = [
  "page.css",
  "page.js",
  "followed.js",
  "checkout.js",
  "tron.js",
  ...readdirSync(assetsUrl).filter((name) => name.endsWith(".svg")),
].map(loadAsset);

/** Finds a static file by its name. */
export const findAsset = (name: string): Asset | undefined =>
  assets.find((asset) => asset.name === name);

/**
 * Returns the URL of a static file. The URL changes when the content changes, so browsers can cache
 * the file permanently.
 */
export const buildAssetUrl = (name: string): string => {
  const asset = findAsset(name);
  if (asset === undefined) throw new Error(`unknown static file ${name}`);
  return `/checkout/assets/${name}?v=${asset.digest}`;
};
