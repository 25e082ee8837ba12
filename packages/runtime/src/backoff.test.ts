import { expect, test } from "@jest/globals";
import { backoffMs } from "./backoff.ts";

test("a wait doubles with each failure in a row, up to the most and not beyond", () => {
  const bounds = { firstMs: 100, mostMs: 500 };
  expect([1, 2, 3, 4, 5].map((failures) => backoffMs(failures, bounds))).toEqual([
    100, 200, 400, 500, 500,
  ]);
});

test("the first wait is never longer than the most", () => {
  expect(backoffMs(1, { firstMs: 2000, mostMs: 500 })).toBe(500);
});

test("any number of failures gives a wait, even where the first is none", () => {
  expect(backoffMs(1_000_000, { firstMs: 100, mostMs: 500 })).toBe(500);
  expect(backoffMs(1_000_000, { firstMs: 0, mostMs: 500 })).toBe(0);
});
