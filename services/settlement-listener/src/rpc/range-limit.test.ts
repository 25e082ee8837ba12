import { describe, expect, test } from "@jest/globals";
import { createRangeLimit } from "./range-limit.ts";

/**
 * Asks a provider that bears that many blocks for as much as the limit says; answers how often it
 * refused.
 */
const askTimes = (limit: ReturnType<typeof createRangeLimit>, times: number, bears: number) => {
  let refusals = 0;
  for (let asked = 0; asked < times; asked += 1) {
    const blockCount = limit.blocksMax();
    if (blockCount <= bears) limit.grow(blockCount);
    else {
      refusals += 1;
      limit.shrink(blockCount);
    }
  }
  return refusals;
};

describe("a provider's range", () => {
  test("finds a fixed limit from far above, and seldom runs into it afterwards", () => {
    const limit = createRangeLimit(2_000);
    expect(askTimes(limit, 20, 5)).toBeLessThan(12);
    expect(limit.blocksMax()).toBe(5);
    expect(askTimes(limit, 640, 5)).toBeLessThanOrEqual(20);
  });

  test("grows back to its maximum, and never above, once the provider bears it", () => {
    const limit = createRangeLimit(100);
    askTimes(limit, 10, 1);
    expect(askTimes(limit, 200, 1_000)).toBe(0);
    expect(limit.blocksMax()).toBe(100);
  });

  test("never falls below one block", () => {
    const limit = createRangeLimit(8);
    askTimes(limit, 50, 0);
    expect(limit.blocksMax()).toBe(1);
    limit.grow(1);
    expect(limit.blocksMax()).toBe(1);
  });

  test("a short range, which proves nothing, does not make it grow", () => {
    const limit = createRangeLimit(100);
    limit.shrink(100);
    limit.grow(49);
    expect(limit.blocksMax()).toBe(50);
    limit.grow(50);
    expect(limit.blocksMax()).toBe(57);
  });
});
