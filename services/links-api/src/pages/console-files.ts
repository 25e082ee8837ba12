import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { consoleDirectory } from "@payment-links/console";

/** Vite's account of what it built. */
const Manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    isEntry: z.boolean().optional(),
    imports: z.array(z.string()).optional(),
    css: z.array(z.string()).optional(),
  }),
);
type Manifest = z.output<typeof Manifest>;

/** One file of the console in each form in which it may be sent. */
export type ConsoleFile = { type: string; bytes: Buffer; br: Buffer; gzip: Buffer };

/** The console as it was built: its files, and which of them a page begins with. */
export type ConsoleFiles = {
  version: string;
  icon: string;
  script: string;
  styles: readonly string[];
  preloads: readonly string[];
  find(name: string): ConsoleFile | undefined;
};

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Reads the console's files, once they are asked for: what needs no console needs no build of it.
 * Throws if it was not built.
 */
export const createConsoleFiles = (directory = consoleDirectory): (() => ConsoleFiles) => {
  let files: ConsoleFiles | undefined;
  return () => (files ??= readFiles(directory));
};

const readFiles = (directory: string): ConsoleFiles => {
  const file = join(directory, "manifest.json");
  if (!existsSync(file)) throw new Error(`the console is not built: there is no ${file}`);
  const text = readFileSync(file, "utf8");
  const manifest = Manifest.parse(JSON.parse(text));
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? "";
  const first = [...reach(manifest, entry)].map((name) => manifest[name]);
  const assets = join(directory, "assets");
  const found = new Map(
    readdirSync(assets)
      .filter((name) => extensionOf(name) in types)
      .map((name) => [name, readFile(assets, name)]),
  );
  const address = (name: string) => `/console/${name}`;
  return {
    version: createHash("sha256").update(text).digest("hex").slice(0, 16),
    icon: address(manifest["app/icon.svg"]?.file ?? ""),
    script: address(manifest[entry]?.file ?? ""),
    styles: first.flatMap((chunk) => chunk?.css ?? []).map(address),
    preloads: first.slice(1).map((chunk) => address(chunk?.file ?? "")),
    find: (name) => found.get(name),
  };
};

/** A chunk and what it imports before it runs, the chunk itself first. */
const reach = (manifest: Manifest, name: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of manifest[name]?.imports ?? []) reach(manifest, next, seen);
  return seen;
};

const readFile = (assets: string, name: string): ConsoleFile => ({
  type: types[extensionOf(name)] ?? "",
  bytes: readFileSync(join(assets, name)),
  br: readFileSync(join(assets, `${name}.br`)),
  gzip: readFileSync(join(assets, `${name}.gz`)),
});

const extensionOf = (name: string): string => name.slice(name.lastIndexOf(".") + 1);
