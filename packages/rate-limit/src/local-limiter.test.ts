import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createFakeClock, createMetrics } from "@payment-links/runtime";
import type { Bucket, Decision } from "./limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { createBucketModel } from "./testing/bucket-model.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";

const startedAt = new Date("2026-11-21T10:00:00Z");

const createTestLimiter = (bucketsMax?: number) => {
  const clock = createFakeClock(startedAt);
  const metrics = createMetrics("test");
  const limiter = createLocalLimiter({
    clock,
    metrics,
    ...(bucketsMax === undefined ? {} : { bucketsMax }),
  });
  const take = (...buckets: readonly Bucket[]): Decision => {
    const decision = limiter.take(buckets);
    if (decision instanceof Promise) throw new Error("a local decision must be synchronous");
    return decision;
  };
  return { clock, metrics, take };
};

const createBucket = (policy: string, tokensPerSecond: number, burst: number): Bucket => ({
  policy,
  id: "one",
  limit: { tokensPerSecond, burst },
});

describe("createLocalLimiter", () => {
  test("agrees with the exact model at every step of any history", () => {
    const history = fc.record({
      buckets: arbitraryBuckets,
      steps: fc.array(
        fc.record({
          waitMs: fc.oneof(fc.constantFrom(0, 0, 1), fc.integer({ min: 0, max: 2_000_000 })),
          selectionMask: fc.integer({ min: 1, max: 7 }),
        }),
        { maxLength: 60 },
      ),
    });
    fc.assert(
      fc.property(history, ({ buckets, steps }) => {
        const { clock, take } = createTestLimiter();
        const model = createBucketModel();
        for (const { waitMs, selectionMask } of steps) {
          clock.advance(waitMs);
          const selectedBuckets = buckets.filter(
            (_, index) => (selectionMask & (1 << index)) !== 0,
          );
          const nowMicros = BigInt(clock.now().getTime()) * 1000n;
          expect(take(...selectedBuckets)).toEqual(model.take(selectedBuckets, nowMicros));
        }
      }),
      { numRuns: 150, seed: 20_261_128 },
    );
  });

  test("allows a burst immediately, then one request per refilled token", () => {
    const { clock, take } = createTestLimiter();
    const keyBucket = createBucket("key", 10, 100);
    const allowed = Array.from({ length: 150 }, () => take(keyBucket)).filter(
      (decision) => decision.isAllowed,
    );
    expect(allowed).toHaveLength(100);
    expect(take(keyBucket).states).toEqual([
      { isAllowed: false, remaining: 0, retryAfterMs: 100, fullInMs: 10_000 },
    ]);
    clock.advance(99);
    expect(take(keyBucket).isAllowed).toBe(false);
    clock.advance(1);
    expect(take(keyBucket).isAllowed).toBe(true);
    expect(take(keyBucket).isAllowed).toBe(false);
  });

  test("takes nothing from the other buckets when one bucket rejects the request (rule API-21)", () => {
    const { take } = createTestLimiter();
    const keyBucket = createBucket("key", 1, 1);
    const addressBucket = createBucket("ip", 1, 5);
    take(keyBucket, addressBucket);
    const rejected = take(keyBucket, addressBucket);
    expect(rejected.isAllowed).toBe(false);
    expect(rejected.states.map((state) => state.isAllowed)).toEqual([false, true]);
    expect(take(addressBucket).states[0]?.remaining).toBe(3);
  });

  test("locks a caller out for at most one whole refill when the clock is set back", () => {
    const { clock, take } = createTestLimiter();
    const keyBucket = createBucket("key", 10, 100);
    for (let takeCount = 0; takeCount < 100; takeCount += 1) take(keyBucket);
    clock.advance(-3_600_000);
    expect(take(keyBucket).states[0]).toMatchObject({ retryAfterMs: 100, fullInMs: 10_000 });
    clock.advance(10_000);
    expect(take(keyBucket).states[0]?.remaining).toBe(99);
  });

  test("limits the number of buckets and evicts the least recently used one", () => {
    const { take } = createTestLimiter(2);
    const limit = { tokensPerSecond: 0.001, burst: 10 };
    const bucketA = { policy: "key", id: "a", limit };
    const bucketB = { policy: "key", id: "b", limit };
    const bucketC = { policy: "key", id: "c", limit };
    take(bucketA);
    take(bucketB);
    take(bucketA);
    take(bucketC);
    expect(take(bucketA).states[0]?.remaining).toBe(7);
    expect(take(bucketB).states[0]?.remaining).toBe(9);
  });

  test("keeps the buckets of API keys during a flood of addresses", () => {
    const { take } = createTestLimiter(10);
    const keyBucket = createBucket("key", 0.001, 10);
    take(keyBucket);
    for (let n = 0; n < 100; n += 1) take({ ...createBucket("ip", 1, 5), id: `10.0.0.${n}` });
    expect(take(keyBucket).states[0]?.remaining).toBe(8);
  });

  test("counts tokens taken, and rejections only for the rejecting policy, with the same values at every scrape", async () => {
    const { metrics, take } = createTestLimiter();
    const keyBucket = createBucket("key", 1, 2);
    const addressBucket = createBucket("ip", 1, 5);
    for (let selectionMask = 0; selectionMask < 5; selectionMask += 1)
      take(keyBucket, addressBucket);
    const readDecisionSeries = async () =>
      (await metrics.metrics()).split("\n").filter((line) => line.includes("decisions_total{"));
    const seriesText = await readDecisionSeries();
    const formatSeries = (policy: string, decision: string, count: number) =>
      "payment_links_rate_limit_decisions_total" +
      `{policy="${policy}",decision="${decision}",service="test"} ${count}`;
    expect(seriesText).toEqual([
      formatSeries("key", "allowed", 2),
      formatSeries("key", "refused", 3),
      formatSeries("ip", "allowed", 2),
      formatSeries("ip", "refused", 0),
    ]);
    expect(await readDecisionSeries()).toEqual(seriesText);
  });

  test("limits the number of series, whatever the policies are", async () => {
    const { metrics, take } = createTestLimiter();
    for (let n = 0; n < 100; n += 1) take(createBucket(`policy-${n}`, 1, 2));
    const text = await metrics.metrics();
    expect(text.match(/policy="[^"]+",decision="allowed"/g)).toHaveLength(17);
  });
});
