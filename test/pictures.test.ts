import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import {
  getPicturePath,
  getStripPath,
  pictureBytesMax,
  pictures,
  stripVariants,
  totalBytesMax,
} from "./screenshots/pictures.ts";

const readBytes = (path: string): Buffer => readFileSync(join(projectRoot, path));

const picturesDirectory = dirname(getPicturePath("overview"));

/** The pages that show pictures, with the prefix of the pictures' URLs. */
const pages = [
  { page: "README.md", prefix: ".github/" },
  { page: ".github/STORIES.md", prefix: "" },
  { page: "test/bench/README.md", prefix: "../../.github/" },
].map(({ page, prefix }) => ({ page, prefix, text: readBytes(page).toString("utf8") }));

/** Returns the names of the pictures that a page shows in any color scheme. */
const listShownPictures = ({ prefix, text }: (typeof pages)[number]): string[] =>
  [...text.matchAll(/(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)]
    .map(([, attribute, target]) => attribute ?? target ?? "")
    .filter((path) => path.startsWith(`${prefix}pictures/`))
    .map((path) => path.slice(`${prefix}pictures/`.length));

describe("the pictures of the product", () => {
  test.each(pictures)("include %s in the README with alternative text and a small size", (name) => {
    const image = new RegExp(`<img src="${getPicturePath(name)}" [^>]*alt="[^"]{40,}"`);
    expect(readBytes("README.md").toString("utf8")).toMatch(image);
    const picture = readBytes(getPicturePath(name));
    expect(picture.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect(picture.length).toBeLessThanOrEqual(pictureBytesMax);
  });

  test("include each story on each device and in each color scheme, with a small size", () => {
    for (const path of stripVariants.map(getStripPath)) {
      const picture = readBytes(path);
      expect([path, picture.subarray(8, 12).toString("latin1")]).toEqual([path, "WEBP"]);
      expect([path, picture.length <= pictureBytesMax]).toEqual([path, true]);
    }
  });

  test("are all shown by a page, exist, and are small in total", () => {
    const files = readdirSync(join(projectRoot, picturesDirectory)).filter(
      (name) => !name.endsWith(".sha256"),
    );
    const shownPictures = new Set(pages.flatMap(listShownPictures));
    expect([...shownPictures].sort()).toEqual(files.sort());
    const sizes = files.map((name) => readBytes(`${picturesDirectory}/${name}`).length);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(totalBytesMax);
  });

  test.each(pages)("have an alternative text on $page", ({ text }) => {
    const images = [...text.matchAll(/<img\b[^>]*>/g)].map(([image]) => image);
    expect(images.filter((image) => !/\balt="[^"]{40,}"/.test(image))).toEqual([]);
  });

  test.each(pages)("are dark for readers with a dark page, if they are light, on $page", (page) => {
    const shownPictures = listShownPictures(page);
    const lightPictures = shownPictures.filter((name) => name.includes("-light."));
    const darkPictures = shownPictures.filter((name) => name.includes("-dark."));
    expect(darkPictures).toEqual(lightPictures.map((name) => name.replace("-light.", "-dark.")));
  });
});
