import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "./build-image.ts";
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
export const pinImages = (root: string, run: Run): Record<string, string> => {
  const named = findImages(root).map(({ file, image }) => ({ file, image: withoutDigest(image) }));
  const pinned: Record<string, string> = {};
  for (const image of new Set(named.map((one) => one.image))) {
    const format = "{{.Manifest.Digest}}";
    const answer = run("docker", ["buildx", "imagetools", "inspect", image, "--format", format]);
    const digest = answer.trim();
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest of ${image}: ${digest}`);
    const files = named.filter((one) => one.image === image).map(({ file }) => file);
    for (const file of new Set(files)) {
      replaceIn(join(root, file), formOf(image), `${image}@${digest}`);
    }
    replaceIn(join(root, unpinnedFile), new RegExp(`^${escapeDots(image)} .*\\n`, "gm"), "");
    pinned[image] = digest;
  }
  return pinned;
};

const withoutDigest = (image: string): string => image.replace(/@.*$/, "");

/** Of what a name and a tag may have, only a dot means something else in a pattern. */
const escapeDots = (image: string): string => image.replaceAll(".", String.raw`\.`);

/** An image by its tag, with or without a digest, and no other image whose name or tag is longer. */
const formOf = (image: string): RegExp =>
  new RegExp(`(?<![\\w./-])${escapeDots(image)}(?:@sha256:[0-9a-f]{64})?(?![\\w.@-])`, "g");

const replaceIn = (path: string, before: RegExp, after: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(before, after));
