import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "./build-image.ts";
import { findImages } from "./find-images.ts";

/** The images that are named by their tag alone, because nobody has asked a registry for their digest. */
export const unpinnedFile = "deploy/images/unpinned.txt";

/** Reads the list of images without a digest. */
export const readUnpinned = (root: string): readonly string[] =>
  readFileSync(join(root, unpinnedFile), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/**
 * Asks the registry for the digest of each image that has none, by buildx, writes it wherever the image is
 * named, and takes it off the list. Answers what is pinned now.
 */
export const pinImages = (root: string, run: Run): Record<string, string> => {
  const named = findImages(root);
  const pinned: Record<string, string> = {};
  for (const image of readUnpinned(root)) {
    const format = "{{.Manifest.Digest}}";
    const answer = run("docker", ["buildx", "imagetools", "inspect", image, "--format", format]);
    const digest = answer.trim();
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest of ${image}: ${digest}`);
    const files = named.filter((one) => one.image === image).map(({ file }) => file);
    for (const file of new Set(files)) replaceIn(join(root, file), image, `${image}@${digest}`);
    replaceIn(join(root, unpinnedFile), `${image}\n`, "");
    pinned[image] = digest;
  }
  return pinned;
};

const replaceIn = (path: string, before: string, after: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(before, after));
