import { describe, expect, test } from "@jest/globals";
import { suggestFirstAddressIndex } from "./first-address-index.ts";

const suggestIndex = async (...usedIndexes: readonly number[]) => {
  let windowCount = 0;
  const suggestedIndex = await suggestFirstAddressIndex(async ({ count, startIndex }) => {
    windowCount += 1;
    return usedIndexes.filter((index) => index >= startIndex && index < startIndex + count);
  });
  return { suggestedIndex, windowCount };
};

const listIndexes = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("suggestFirstAddressIndex", () => {
  test.each([
    [[], 5],
    [[0], 6],
    [[0, 1, 2], 8],
    [[19], 25],
    [[0, 19, 38], 44],
  ])(
    "leaves five unused addresses to the wallet app when the indexes %j are used",
    async (usedIndexes, expected) => {
      expect((await suggestIndex(...usedIndexes)).suggestedIndex).toBe(expected);
    },
  );

  test.each([
    [101, 106],
    [640, 645],
    [1_280, 1_285],
  ])("finds the end of the first %i used addresses", async (usedCount, expected) => {
    expect((await suggestIndex(...listIndexes(usedCount))).suggestedIndex).toBe(expected);
  });

  test("returns undefined when the last window has a used address", async () => {
    expect((await suggestIndex(...listIndexes(1_281))).suggestedIndex).toBeUndefined();
  });

  test.each([0, 1, 20, 21, 100, 333, 640, 641, 1_000, 1_280, 1_281, 2_000])(
    "looks at no more than 13 windows when %i addresses are used, because each takes 20 ms",
    async (usedCount) => {
      expect((await suggestIndex(...listIndexes(usedCount))).windowCount).toBeLessThanOrEqual(13);
    },
  );
});
