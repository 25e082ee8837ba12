import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import {
  digestFile,
  digestPictured,
  pathOfPicture,
  pictureBytesMax,
  pictures,
} from "./screenshots/pictures.ts";

const read = (path: string): Buffer => readFileSync(join(projectRoot, path));

describe("the README's pictures", () => {
  test("show the pages as they are now", () => {
    const taken = readFileSync(digestFile, "utf8");
    const word = taken === digestPictured() ? "new" : "old: take them by `npm run screenshots`";
    expect(`The pictures are ${word}`).toBe("The pictures are new");
  });

  test.each(pictures)(
    "%s stands in it with other words for who cannot see it, and is small",
    (name) => {
      const image = new RegExp(`<img src="${pathOfPicture(name)}" [^>]*alt="[^"]{40,}"`);
      expect(read("README.md").toString("utf8")).toMatch(image);
      const picture = read(pathOfPicture(name));
      expect(picture.subarray(1, 4).toString("latin1")).toBe("PNG");
      expect(picture.length).toBeLessThanOrEqual(pictureBytesMax);
    },
  );
});
