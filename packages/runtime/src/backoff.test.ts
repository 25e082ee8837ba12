import { expect, test } from "@jest/globals";
import { backoffMs } from "./backoff.ts";

test("a wait doubles with each failure in a row, up to the most and not beyond", () => {
  const bounds = { initialMs: 100, maxMs: 500 };
  expect([1, 2, 3, 4, 5].map((failureCount) => backoffMs(failureCount, bounds))).toEqual([
    100, 200, 400, 500, 500,
  ]);
});

test("the first wait is never longer than the most", () => {
  expect(backoffMs(1, { initialMs: 2000, maxMs: 500 })).toBe(500);
});

test("any number of failures gives a wait, even where the first is none", () => {
  expect(backoffMs(1_000_000, { initialMs: 100, maxMs: 500 })).toBe(500);
  expect(backoffMs(1_000_000, { initialMs: 0, maxMs: 500 })).toBe(0);
});
