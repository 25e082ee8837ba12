import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";

const picturesDirectory = ".github/pictures";

/** The names of the pictures that `main.ts` takes. */
export const pictures = ["checkout-phone", "checkout-computer", "overview", "webhook-log"] as const;
export type Picture = (typeof pictures)[number];

/** The maximum size of a picture. It is limited because the README is also read on phones. */
export const pictureBytesMax = 150_000;

export const getPicturePath = (picture: Picture): string => `${picturesDirectory}/${picture}.png`;

/** Stores the digest of the sources from which the pictures were taken. */
export const digestFile = join(projectRoot, picturesDirectory, "sources.sha256");

/** The sources of the pages in the pictures, and the scripts that take the pictures. */
const sources = [
  "services/links-api/src/pages",
  "packages/console/app/frame",
  "packages/console/app/ui",
  "packages/console/app/pages/overview",
  "packages/console/app/pages/webhooks",
  "packages/console/app/base.css",
  "packages/design",
  "test/screenshots",
];

const listFiles = (path: string): string[] =>
  statSync(join(projectRoot, path)).isFile()
    ? [path]
    : readdirSync(join(projectRoot, path)).flatMap((name) => listFiles(`${path}/${name}`));

/** Returns a digest of the sources. It changes whenever the pictures could change. */
export const computeSourcesDigest = (): string => {
  const hash = createHash("sha256");
  const files = sources.flatMap(listFiles).filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.toSorted()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(projectRoot, file)))
      .update("\0");
  }
  return `${hash.digest("hex")}\n`;
};
