import { describe, expect, test } from "@jest/globals";
import { createRangeLimit } from "./range-limit.ts";

/**
 * Simulates requests of the largest allowed size to a provider that accepts `blocksAccepted`
 * blocks. Returns the number of rejected requests.
 */
const simulateRequests = (
  limit: ReturnType<typeof createRangeLimit>,
  times: number,
  blocksAccepted: number,
) => {
  let rejectionCount = 0;
  for (let requestIndex = 0; requestIndex < times; requestIndex += 1) {
    const blockCount = limit.blocksMax();
    if (blockCount <= blocksAccepted) limit.grow(blockCount);
    else {
      rejectionCount += 1;
      limit.shrink(blockCount);
    }
  }
  return rejectionCount;
};

describe("createRangeLimit", () => {
  test("finds a much lower fixed limit, and rarely exceeds it afterwards", () => {
    const limit = createRangeLimit(2_000);
    expect(simulateRequests(limit, 20, 5)).toBeLessThan(12);
    expect(limit.blocksMax()).toBe(5);
    expect(simulateRequests(limit, 640, 5)).toBeLessThanOrEqual(20);
  });

  test("grows back to its maximum, and never beyond, once the provider accepts it", () => {
    const limit = createRangeLimit(100);
    simulateRequests(limit, 10, 1);
    expect(simulateRequests(limit, 200, 1_000)).toBe(0);
    expect(limit.blocksMax()).toBe(100);
  });

  test("never falls below one block", () => {
    const limit = createRangeLimit(8);
    simulateRequests(limit, 50, 0);
    expect(limit.blocksMax()).toBe(1);
    limit.grow(1);
    expect(limit.blocksMax()).toBe(1);
  });

  test("does not grow after a shorter range, which proves nothing", () => {
    const limit = createRangeLimit(100);
    limit.shrink(100);
    limit.grow(49);
    expect(limit.blocksMax()).toBe(50);
    limit.grow(50);
    expect(limit.blocksMax()).toBe(57);
  });
});
