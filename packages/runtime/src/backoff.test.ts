import { expect, test } from "@jest/globals";
import { backoffMs } from "./backoff.ts";

test("the delay doubles with each consecutive failure, up to the maximum", () => {
  const bounds = { initialMs: 100, maxMs: 500 };
  expect([1, 2, 3, 4, 5].map((failureCount) => backoffMs(failureCount, bounds))).toEqual([
    100, 200, 400, 500, 500,
  ]);
});

test("the first delay is never longer than the maximum", () => {
  expect(backoffMs(1, { initialMs: 2000, maxMs: 500 })).toBe(500);
});

test("the delay is finite for any number of failures, even if the initial delay is 0", () => {
  expect(backoffMs(1_000_000, { initialMs: 100, maxMs: 500 })).toBe(500);
  expect(backoffMs(1_000_000, { initialMs: 0, maxMs: 500 })).toBe(0);
});
