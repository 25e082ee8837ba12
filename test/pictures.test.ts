import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { getPicturePath, pictureBytesMax, pictures } from "./screenshots/pictures.ts";

const readBytes = (path: string): Buffer => readFileSync(join(projectRoot, path));

describe("the README's pictures", () => {
  test.each(pictures)("include %s with alternative text and a small size", (name) => {
    const image = new RegExp(`<img src="${getPicturePath(name)}" [^>]*alt="[^"]{40,}"`);
    expect(readBytes("README.md").toString("utf8")).toMatch(image);
    const picture = readBytes(getPicturePath(name));
    expect(picture.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect(picture.length).toBeLessThanOrEqual(pictureBytesMax);
  });
});
