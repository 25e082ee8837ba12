import { readdirSync } from "node:fs";
import { join } from "node:path";

const skippedFolders = new Set("node_modules .git .turbo .data dist coverage schemas".split(" "));

/**
 * Lists the files below `root` whose path matches, as paths relative to it. Skips installed, generated and
 * local files.
 *
 * @type {(root: string, pathPattern: RegExp, folder?: string) => string[]}
 */
export const listFiles = (root, pathPattern, folder = "") =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return skippedFolders.has(entry.name) ? [] : listFiles(root, pathPattern, path);
    return pathPattern.test(`/${path}`) ? [path] : [];
  });
