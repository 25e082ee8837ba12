import { describe, expect, test } from "@jest/globals";
import { takeTokens, getTokenMicros } from "./take-tokens.ts";

const bucket = { policy: "key", id: "k", limit: { tokensPerSecond: 1, burst: 2 } };

describe("takeTokens", () => {
  test("is exact to the microsecond, and reports times rounded up to the millisecond", () => {
    expect(takeTokens([bucket], [1_000_000])).toEqual({
      isAllowed: true,
      states: [{ isAllowed: true, remaining: 0, retryAfterMs: 0, fullInMs: 2_000 }],
    });
    expect(takeTokens([bucket], [1_000_001])).toEqual({
      isAllowed: false,
      states: [{ isAllowed: false, remaining: 0, retryAfterMs: 1, fullInMs: 1_001 }],
    });
  });
});

describe("getTokenMicros", () => {
  test.each([
    [1, 1_000_000],
    [3, 333_333],
    [600_000, 2],
    [10_000_000, 1],
  ])("rounds %d tokens per second to %d µs per token, at least 1", (tokensPerSecond, micros) => {
    expect(getTokenMicros({ tokensPerSecond, burst: 1 })).toBe(micros);
  });
});
