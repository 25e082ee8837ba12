import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A third-party image and the file that names it. */
export type ImageReference = { file: string; image: string };

/** The folders with files that build, run or test images. */
const folders = ["deploy", "helm", "test", ".ci", ".github"];
const skippedFolders = new Set(["node_modules", "images", "schemas"]);

/** The pattern with which each kind of file names an image. */
const imagePatterns: readonly (readonly [file: RegExp, image: RegExp])[] = [
  [/Dockerfile$/, /^(?:FROM\s+(?:--\S+\s+)?|ARG \w*IMAGE=)(\S+)/gm],
  [/values\.yaml$/, /^ {4}(?:postgres|kafka|redis|nginx):\s+(\S+)$/gm],
  [/\.(?:ya?ml|tpl)$/, /^\s*(?:- )?image:\s+["']?([^\s"'{[]+)["']?\s*$/gm],
  [/\.ts$|\/run$/, /\bimage = "([\w./-]+:\w[\w.:@-]*)"/gi],
];

/** Returns true unless we build the image ourselves or the name contains a placeholder. */
const isThirdParty = (image: string): boolean =>
  !image.startsWith("payment-links/") && !/[${]/.test(image);

/** Finds every third-party image named in Dockerfiles, Compose, chart, CI and tests. */
export const findImages = (root: string): readonly ImageReference[] =>
  folders
    .flatMap((folder) => listFiles(root, folder))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const matchedImages = imagePatterns
        .filter(([filePattern]) => filePattern.test(`/${file}`))
        .flatMap(([, imagePattern]) =>
          [...text.matchAll(imagePattern)].map(([, image = ""]) => image),
        );
      return matchedImages.filter(isThirdParty).map((image) => ({ file, image }));
    });

const listFiles = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(root, path);
    return [path];
  });
