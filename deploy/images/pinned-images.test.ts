import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { findImages } from "./find-images.ts";
import { pinImages, readUnpinned, unpinnedFile } from "./pin-images.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const createDigest = (image: string): string =>
  `sha256:${createHash("sha256").update(image).digest("hex")}`;

const pinnedPattern = /^[\w./:-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

describe("every third-party image that one of our files names", () => {
  test("has a digest, or is on the list of unpinned images", () => {
    const unpinnedImages = findImages(root)
      .map(({ image }) => image)
      .filter((image) => !pinnedPattern.test(image));
    const listedImages = readUnpinned(root).map(({ image }) => image);
    expect([...new Set(unpinnedImages)].toSorted()).toEqual(listedImages.toSorted());
  });

  test("has a reason on that list if it has no digest", () => {
    const entriesWithoutReason = readUnpinned(root).filter(({ reason }) => reason.length < 20);
    expect(entriesWithoutReason).toEqual([]);
  });

  test("is found wherever images are built, run or tested", () => {
    const files = new Set(findImages(root).map(({ file }) => file));
    expect([...files].toSorted()).toEqual([
      "deploy/Dockerfile",
      "deploy/compose.yaml",
      "helm/payment-links/values.yaml",
      "test/servers/kafka.ts",
      "test/servers/redis.ts",
    ]);
  });
});

test("pinning writes each digest wherever its image is named, replaces old ones and empties the list", () => {
  const copyFolder = mkdtempSync(join(tmpdir(), "pins-"));
  try {
    for (const folder of ["helm", ".ci", ".github"]) mkdirSync(join(copyFolder, folder));
    const files = [unpinnedFile, ...findImages(root).map(({ file }) => file)];
    for (const file of files) {
      mkdirSync(dirname(join(copyFolder, file)), { recursive: true });
      cpSync(join(root, file), join(copyFolder, file));
    }
    for (const file of files) writeFileSync(join(copyFolder, file), "");
    const oldDigest = `@sha256:${"f".repeat(64)}`;
    writeFileSync(
      join(copyFolder, unpinnedFile),
      "# Not fetched yet.\nredis:9 only in compose\nnode:99 the base image\n",
    );
    writeFileSync(
      join(copyFolder, "deploy/Dockerfile"),
      "ARG NODE_IMAGE=node:99\nFROM ${NODE_IMAGE}\n",
    );
    // The tag of the first image is a prefix of the second image's tag.
    writeFileSync(
      join(copyFolder, "deploy/compose.yaml"),
      `  image: redis:9\n  image: nginx:1${oldDigest}\n  image: nginx:1.2\n`,
    );
    const commandLines: string[] = [];
    const pinnedImages = pinImages(copyFolder, (program, args) => {
      commandLines.push([program, ...args].join(" "));
      return `${createDigest(args[3] ?? "")}\n`;
    });
    expect(commandLines.map((commandLine) => commandLine.split(" ").slice(0, 5).join(" "))).toEqual(
      [
        "docker buildx imagetools inspect node:99",
        "docker buildx imagetools inspect redis:9",
        "docker buildx imagetools inspect nginx:1",
        "docker buildx imagetools inspect nginx:1.2",
      ],
    );
    expect(Object.keys(pinnedImages)).toEqual(["node:99", "redis:9", "nginx:1", "nginx:1.2"]);
    expect(readUnpinned(copyFolder)).toEqual([]);
    expect(readFileSync(join(copyFolder, unpinnedFile), "utf8")).toBe("# Not fetched yet.\n");
    const toPinnedImage = (image: string) => `${image}@${createDigest(image)}`;
    expect(readFileSync(join(copyFolder, "deploy/compose.yaml"), "utf8")).toBe(
      ["redis:9", "nginx:1", "nginx:1.2"]
        .map((image) => `  image: ${toPinnedImage(image)}\n`)
        .join(""),
    );
    expect(readFileSync(join(copyFolder, "deploy/Dockerfile"), "utf8")).toBe(
      `ARG NODE_IMAGE=${toPinnedImage("node:99")}\nFROM \${NODE_IMAGE}\n`,
    );
  } finally {
    rmSync(copyFolder, { recursive: true });
  }
});
