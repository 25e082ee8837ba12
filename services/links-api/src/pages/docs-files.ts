import { existsSync } from "node:fs";
import { join } from "node:path";
import { docsDirectory } from "@payment-links/docs";
import { type CompressedFile, readCompressedFiles } from "./compressed-file.ts";

/** The built docs: their pages by name, and the files that pages load. */
export type DocsFiles = {
  findPage(name: string): CompressedFile | undefined;
  findAsset(name: string): CompressedFile | undefined;
};

/**
 * Creates a function that returns the docs and reads them when it is first called. Processes and
 * tests that do not serve the docs therefore do not need a build. The function throws if the docs
 * are not built.
 */
export const createDocsFilesLoader = (directory = docsDirectory): (() => DocsFiles) => {
  let files: DocsFiles | undefined;
  return () => (files ??= readFiles(directory));
};

const readFiles = (directory: string): DocsFiles => {
  if (!existsSync(directory)) throw new Error(`the docs are not built: there is no ${directory}`);
  const pages = readCompressedFiles(join(directory, "pages"));
  const assets = readCompressedFiles(join(directory, "assets"));
  return {
    findPage: (name) => pages.get(`${name}.html`),
    findAsset: (name) => assets.get(name),
  };
};
