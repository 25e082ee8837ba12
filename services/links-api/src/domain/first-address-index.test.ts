import { describe, expect, test } from "@jest/globals";
import { suggestFirstAddressIndex } from "./first-address-index.ts";

const suggestIndex = (...usedIndexes: readonly number[]) =>
  suggestFirstAddressIndex(async ({ count, startIndex }) =>
    usedIndexes.filter((index) => index >= startIndex && index < startIndex + count),
  );

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
      expect(await suggestIndex(...usedIndexes)).toBe(expected);
    },
  );

  test("returns undefined when the first thousand addresses have no unused range", async () => {
    expect(
      await suggestIndex(...Array.from({ length: 1_100 }, (_, index) => index)),
    ).toBeUndefined();
  });
});
