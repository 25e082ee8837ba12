import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunProgram } from "./build-image.ts";
import { findImages } from "./find-images.ts";

/**
 * The path of the list of images that have only a tag, because their digest has not been fetched
 * from a registry.
 */
export const unpinnedFile = "deploy/images/unpinned.txt";

/** An image without a digest, with the reason. */
type Unpinned = { image: string; reason: string };

/** Reads the list of images without a digest: one image and its reason per line. */
export const readUnpinned = (root: string): readonly Unpinned[] =>
  readFileSync(join(root, unpinnedFile), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [image = "", ...reason] = line.split(" ");
      return { image, reason: reason.join(" ").trim() };
    });

/**
 * Fetches the current digest of each third-party image from its registry with buildx. Writes the
 * digest to every file that names the image, and removes the image from the list of unpinned
 * images. Returns the digest of each image.
 */
export const pinImages = (root: string, runProgram: RunProgram): Record<string, string> => {
  const references = findImages(root).map(({ file, image }) => ({
    file,
    image: withoutDigest(image),
  }));
  const pinned: Record<string, string> = {};
  for (const image of new Set(references.map((reference) => reference.image))) {
    const format = "{{.Manifest.Digest}}";
    const output = runProgram("docker", [
      "buildx",
      "imagetools",
      "inspect",
      image,
      "--format",
      format,
    ]);
    const digest = output.trim();
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest for ${image}: ${digest}`);
    const files = references
      .filter((reference) => reference.image === image)
      .map(({ file }) => file);
    for (const file of new Set(files)) {
      replaceInFile(join(root, file), createImagePattern(image), `${image}@${digest}`);
    }
    replaceInFile(join(root, unpinnedFile), new RegExp(`^${escapeDots(image)} .*\\n`, "gm"), "");
    pinned[image] = digest;
  }
  return pinned;
};

const withoutDigest = (image: string): string => image.replace(/@.*$/, "");

/** In image names and tags, only the dot has a special meaning in a regular expression. */
const escapeDots = (image: string): string => image.replaceAll(".", String.raw`\.`);

/** Matches an image name and tag, with or without a digest, but not a longer name or tag. */
const createImagePattern = (image: string): RegExp =>
  new RegExp(`(?<![\\w./-])${escapeDots(image)}(?:@sha256:[0-9a-f]{64})?(?![\\w.@-])`, "g");

const replaceInFile = (path: string, pattern: RegExp, replacement: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(pattern, replacement));
