import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

type Asset = { name: string; type: string; text: string; digest: string };

const load = (name: string, type: string): Asset => {
  const text = readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");
  return { name, type, text, digest: createHash("sha256").update(text).digest("hex").slice(0, 16) };
};

/** The files that pages refer to, read once. */
const assets = [load("page.css", "text/css"), load("checkout.js", "text/javascript")];

/** Finds a static file by its name. */
export const findAsset = (name: string): Asset | undefined =>
  assets.find((asset) => asset.name === name);

/**
 * The address of a static file. It changes with the content, so browsers may keep the file for
 * ever.
 */
export const assetUrl = (name: "page.css" | "checkout.js"): string =>
  `/checkout/assets/${name}?v=${findAsset(name)?.digest ?? ""}`;
