import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { consoleDirectory } from "@payment-links/console";
import { type CompressedFile, readCompressedFiles } from "./compressed-file.ts";

/** Vite's build manifest. */
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

/** The built console: all files, and those that its page loads first. */
export type ConsoleFiles = {
  version: string;
  icon: string;
  script: string;
  styles: readonly string[];
  preloads: readonly string[];
  find(name: string): CompressedFile | undefined;
};

/**
 * Creates a function that returns the console's files and reads them when it is first called.
 * Processes and tests that do not serve the console therefore do not need a build. The function
 * throws if the console is not built.
 */
export const createConsoleFilesLoader = (directory = consoleDirectory): (() => ConsoleFiles) => {
  let files: ConsoleFiles | undefined;
  return () => (files ??= readFiles(directory));
};

const readFiles = (directory: string): ConsoleFiles => {
  const manifestPath = join(directory, "manifest.json");
  if (!existsSync(manifestPath))
    throw new Error(`the console is not built: there is no ${manifestPath}`);
  const text = readFileSync(manifestPath, "utf8");
  const manifest = Manifest.parse(JSON.parse(text));
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? "";
  const entryChunks = [...collectImports(manifest, entry)].map((name) => manifest[name]);
  const filesByName = readCompressedFiles(join(directory, "assets"));
  const toUrlPath = (name: string) => `/console/${name}`;
  return {
    version: createHash("sha256").update(text).digest("hex").slice(0, 16),
    icon: toUrlPath(manifest["../design/icon.svg"]?.file ?? ""),
    script: toUrlPath(manifest[entry]?.file ?? ""),
    styles: entryChunks.flatMap((chunk) => chunk?.css ?? []).map(toUrlPath),
    preloads: entryChunks.slice(1).map((chunk) => toUrlPath(chunk?.file ?? "")),
    find: (name) => filesByName.get(name),
  };
};

/** Collects a chunk and all chunks that it statically imports, beginning with the chunk itself. */
const collectImports = (
  manifest: Manifest,
  name: string,
  collected = new Set<string>(),
): Set<string> => {
  if (collected.has(name)) return collected;
  collected.add(name);
  for (const importedName of manifest[name]?.imports ?? [])
    collectImports(manifest, importedName, collected);
  return collected;
};
