import { describe, expect, test } from "@jest/globals";
import { designTokens } from "./index.ts";

const [lightText = "", darkText = ""] = designTokens.split("@media (prefers-color-scheme: dark)");

const readColors = (css: string): Map<string, string> =>
  new Map(
    [...css.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name = "", hex = ""]) => [name, hex]),
  );

/** The relative luminance of a color (WCAG 2.2). */
const getLuminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const getContrast = (first: string, second: string): number => {
  const [darker = 0, lighter = 0] = [first, second].map(getLuminance).toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
};

const grounds = ["background", "surface", "surface-subtle"];
const tinted = ["accent", "success", "warning", "danger"];

const textPairs = [
  ...["text", "text-muted", ...tinted].flatMap((name) => grounds.map((ground) => [name, ground])),
  ...tinted.flatMap((name) => [name, "text"].map((text) => [text, `${name}-subtle`])),
  ...["text", "text-muted"].map((name) => [name, "neutral-subtle"]),
  ...["accent", "accent-hover", "accent-active"].map((name) => ["on-accent", name]),
  ...["danger", "danger-hover"].map((name) => ["on-danger", name]),
];
const controlPairs = grounds.map((ground) => ["border-strong", ground]);

describe.each([
  ["light", lightText],
  ["dark", darkText],
])("the %s theme", (_, css) => {
  const colors = readColors(css);
  const listPairsBelow = (pairs: readonly (readonly string[])[], minimum: number) =>
    pairs.filter(([first = "", second = ""]) => {
      const [a, b] = [colors.get(first), colors.get(second)];
      return a === undefined || b === undefined || getContrast(a, b) < minimum;
    });

  test("gives text a contrast of at least 4.5:1", () => {
    expect(listPairsBelow(textPairs, 4.5)).toEqual([]);
  });

  test("gives borders of controls a contrast of at least 3:1", () => {
    expect(listPairsBelow(controlPairs, 3)).toEqual([]);
  });

  test("replaces every color of the light theme", () => {
    expect([...colors.keys()].toSorted()).toEqual([...readColors(lightText).keys()].toSorted());
  });
});
