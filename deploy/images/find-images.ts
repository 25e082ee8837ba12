import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** An image of somebody else that a file of ours names. */
export type NamedImage = { file: string; image: string };

/** Where images are named: what builds, runs or tests. */
const folders = ["deploy", "helm", "test", ".ci", ".github"];
const skippedFolders = new Set(["node_modules", "images", "schemas"]);

/** How each kind of file names an image. */
const forms: readonly (readonly [file: RegExp, image: RegExp])[] = [
  [/Dockerfile$/, /^(?:FROM\s+(?:--\S+\s+)?|ARG \w*IMAGE=)(\S+)/gm],
  [/values\.yaml$/, /^ {4}(?:postgres|kafka|redis|nginx):\s+(\S+)$/gm],
  [/\.(?:ya?ml|tpl)$/, /^\s*(?:- )?image:\s+["']?([^\s"'{[]+)["']?\s*$/gm],
  [/\.ts$|\/run$/, /\bimage = "([\w./-]+:\w[\w.:@-]*)"/gi],
];

/** What we build ourselves, and what is only put in later. */
const isForeign = (image: string): boolean =>
  !image.startsWith("payment-links/") && !/[${]/.test(image);

/** Finds every image of somebody else that is named in Dockerfiles, compose, chart, CI and tests. */
export const findImages = (root: string): readonly NamedImage[] =>
  folders
    .flatMap((folder) => listFiles(root, folder))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const named = forms
        .filter(([kind]) => kind.test(`/${file}`))
        .flatMap(([, form]) => [...text.matchAll(form)].map(([, image = ""]) => image));
      return named.filter(isForeign).map((image) => ({ file, image }));
    });

const listFiles = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(root, path);
    return [path];
  });
