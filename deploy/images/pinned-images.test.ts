import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { findImages } from "./find-images.ts";
import { pinImages, readUnpinned, unpinnedFile } from "./pin-images.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pinnedForm = /^[\w./:-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

describe("every image of somebody else that a file of ours names", () => {
  test("has its digest, or stands on the list of those that were never asked for", () => {
    const loose = findImages(root)
      .map(({ image }) => image)
      .filter((image) => !pinnedForm.test(image));
    expect([...new Set(loose)].toSorted()).toEqual([...readUnpinned(root)].toSorted());
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

test("pinning writes each digest wherever its image is named, and empties the list", () => {
  const copy = mkdtempSync(join(tmpdir(), "pins-"));
  try {
    for (const folder of ["helm", ".ci", ".github"]) mkdirSync(join(copy, folder));
    const files = [unpinnedFile, ...findImages(root).map(({ file }) => file)];
    for (const file of files) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
    // One is pinned already, whatever the list says of the others.
    writeFileSync(join(copy, unpinnedFile), "redis:9\nnode:99\n");
    writeFileSync(join(copy, "deploy/Dockerfile"), "ARG NODE_IMAGE=node:99\nFROM ${NODE_IMAGE}\n");
    writeFileSync(join(copy, "deploy/compose.yaml"), "  image: redis:9\n");
    const asked: string[] = [];
    const pinned = pinImages(copy, (program, args) => {
      asked.push([program, ...args].join(" "));
      return `sha256:${(args[3] ?? "").startsWith("redis") ? "1" : "2"}${"0".repeat(63)}\n`;
    });
    expect(asked.map((line) => line.split(" ").slice(0, 5).join(" "))).toEqual([
      "docker buildx imagetools inspect redis:9",
      "docker buildx imagetools inspect node:99",
    ]);
    expect(Object.keys(pinned)).toEqual(["redis:9", "node:99"]);
    expect(readUnpinned(copy)).toEqual([]);
    expect(readFileSync(join(copy, "deploy/compose.yaml"), "utf8")).toBe(
      `  image: redis:9@sha256:1${"0".repeat(63)}\n`,
    );
    expect(readFileSync(join(copy, "deploy/Dockerfile"), "utf8")).toBe(
      `ARG NODE_IMAGE=node:99@sha256:2${"0".repeat(63)}\nFROM \${NODE_IMAGE}\n`,
    );
  } finally {
    rmSync(copy, { recursive: true });
  }
});
