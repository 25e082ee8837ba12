import { describe, expect, test } from "@jest/globals";
import { suggestFirstIndex } from "./first-index.ts";

const suggest = (...used: readonly number[]) =>
  suggestFirstIndex(async ({ count, from }) =>
    used.filter((index) => index >= from && index < from + count),
  );

describe("the suggested first index of a wallet on Bitcoin", () => {
  test.each([
    [[], 5],
    [[0], 6],
    [[0, 1, 2], 8],
    [[19], 25],
    [[0, 19, 38], 44],
  ])("leaves five unused addresses to the wallet app where %j are used", async (used, expected) => {
    expect(await suggest(...used)).toBe(expected);
  });

  test("is none where a thousand addresses are used and no end is found", async () => {
    expect(await suggest(...Array.from({ length: 1_100 }, (_, index) => index))).toBeUndefined();
  });
});
