import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

type Asset = { name: string; type: string; text: string; digest: string };

const types: Readonly<Record<string, string>> = {
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

/** A script imports another by that one's own address, so that a page never mixes two versions. */
const load = (assets: readonly Asset[], name: string): readonly Asset[] => {
  const text = readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8").replaceAll(
    /(?<= from ")\.\/([\w-]+\.js)(?=")/g,
    (_, imported: string) => addressOf(assets, imported),
  );
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "";
  return [...assets, { name, type, text, digest }];
};

const addressOf = (assets: readonly Asset[], name: string): string => {
  const asset = assets.find((asset) => asset.name === name);
  if (asset === undefined) throw new Error(`no file ${name} of the pages was read`);
  return `/checkout/assets/${name}?v=${asset.digest}`;
};

/** The files that pages refer to, read once; a script comes after those that it imports. */
const assets = [
  "icon.svg",
  "page.css",
  "amounts.js",
  "page.js",
  "live.js",
  "wallets.js",
  "checkout.js",
].reduce<readonly Asset[]>(load, []);

/** Finds a static file by its name. */
export const findAsset = (name: string): Asset | undefined =>
  assets.find((asset) => asset.name === name);

/**
 * The address of a static file. It changes with the content, so browsers may keep the file for
 * ever.
 */
export const assetUrl = (name: string): string => addressOf(assets, name);
