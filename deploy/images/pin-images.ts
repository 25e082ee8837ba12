import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunProgram } from "./build-image.ts";
import { findImages } from "./find-images.ts";

/** The images that are named by their tag alone, because nobody has asked a registry for their digest. */
export const unpinnedFile = "deploy/images/unpinned.txt";

/** An image without a digest, and why it has none. */
type Unpinned = { image: string; reason: string };

/** Reads the list of images without a digest: on each line an image and the reason. */
export const readUnpinned = (root: string): readonly Unpinned[] =>
  readFileSync(join(root, unpinnedFile), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [image = "", ...reason] = line.split(" ");
      return { image, reason: reason.join(" ").trim() };
    });

/**
 * Asks the registry for the present digest of each named image, by buildx, writes it wherever the image is
 * named, in place of an older one, and takes the image off the list. Returns the digest of each image.
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
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest of ${image}: ${digest}`);
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

/** Of what a name and a tag may have, only a dot means something else in a pattern. */
const escapeDots = (image: string): string => image.replaceAll(".", String.raw`\.`);

/** An image by its tag, with or without a digest, and no other image whose name or tag is longer. */
const createImagePattern = (image: string): RegExp =>
  new RegExp(`(?<![\\w./-])${escapeDots(image)}(?:@sha256:[0-9a-f]{64})?(?![\\w.@-])`, "g");

const replaceInFile = (path: string, pattern: RegExp, replacement: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(pattern, replacement));
