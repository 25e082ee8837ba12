import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunProgram } from "./build-image.ts";
import { findImages } from "./find-images.ts";

/**
 * Lists the images that are named by tag only, because their digest was never fetched from a
 * registry.
 */
export const unpinnedFile = "deploy/images/unpinned.txt";

/** An image without a digest, and the reason. */
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
 * Fetches the current digest of each named image from its registry, with buildx. Writes it wherever
 * the image is named, replacing an older digest, and removes the image from the list. Returns the
 * digest of each image.
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

/** Among the characters of a name or tag, only the dot is special in a pattern. */
const escapeDots = (image: string): string => image.replaceAll(".", String.raw`\.`);

/**
 * Matches an image by its tag, with or without a digest, but not an image with a longer name or
 * tag.
 */
const createImagePattern = (image: string): RegExp =>
  new RegExp(`(?<![\\w./-])${escapeDots(image)}(?:@sha256:[0-9a-f]{64})?(?![\\w.@-])`, "g");

const replaceInFile = (path: string, pattern: RegExp, replacement: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(pattern, replacement));
