import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createHeldClock, openMetrics } from "@payment-links/runtime";
import type { Bucket, Decision } from "./limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { createBucketModel } from "./testing/bucket-model.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";

const start = new Date("2026-11-21T10:00:00Z");

const open = (bucketsMax?: number) => {
  const clock = createHeldClock(start);
  const metrics = openMetrics("test");
  const limiter = createLocalLimiter({
    clock,
    metrics,
    ...(bucketsMax === undefined ? {} : { bucketsMax }),
  });
  const take = (...buckets: readonly Bucket[]): Decision => {
    const decision = limiter.take(buckets);
    if (decision instanceof Promise) throw new Error("a local decision needs no promise");
    return decision;
  };
  return { clock, metrics, take };
};

const bucket = (policy: string, tokensPerSecond: number, burst: number): Bucket => ({
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
          asked: fc.integer({ min: 1, max: 7 }),
        }),
        { maxLength: 60 },
      ),
    });
    fc.assert(
      fc.property(history, ({ buckets, steps }) => {
        const { clock, take } = open();
        const model = createBucketModel();
        for (const { waitMs, asked } of steps) {
          clock.advance(waitMs);
          const some = buckets.filter((_, index) => (asked & (1 << index)) !== 0);
          const nowMicros = BigInt(clock.now().getTime()) * 1000n;
          expect(take(...some)).toEqual(model.take(some, nowMicros));
        }
      }),
      { numRuns: 150, seed: 20_261_128 },
    );
  });

  test("a burst passes at once, then one request for each token that is refilled", () => {
    const { clock, take } = open();
    const key = bucket("key", 10, 100);
    const passed = Array.from({ length: 150 }, () => take(key)).filter((one) => one.isAllowed);
    expect(passed).toHaveLength(100);
    expect(take(key).states).toEqual([
      { isAllowed: false, remaining: 0, retryAfterMs: 100, fullInMs: 10_000 },
    ]);
    clock.advance(99);
    expect(take(key).isAllowed).toBe(false);
    clock.advance(1);
    expect(take(key).isAllowed).toBe(true);
    expect(take(key).isAllowed).toBe(false);
  });

  test("a request that one bucket refuses takes nothing from the others (rule API-21)", () => {
    const { take } = open();
    const key = bucket("key", 1, 1);
    const address = bucket("ip", 1, 5);
    take(key, address);
    const refused = take(key, address);
    expect(refused.isAllowed).toBe(false);
    expect(refused.states.map((state) => state.isAllowed)).toEqual([false, true]);
    expect(take(address).states[0]?.remaining).toBe(3);
  });

  test("a clock set back locks nobody out for longer than one whole refill", () => {
    const { clock, take } = open();
    const key = bucket("key", 10, 100);
    for (let taken = 0; taken < 100; taken += 1) take(key);
    clock.advance(-3_600_000);
    expect(take(key).states[0]).toMatchObject({ retryAfterMs: 100, fullInMs: 10_000 });
    clock.advance(10_000);
    expect(take(key).states[0]?.remaining).toBe(99);
  });

  test("holds no more buckets than it may, and forgets the one unused for longest", () => {
    const { take } = open(2);
    const limit = { tokensPerSecond: 0.001, burst: 10 };
    const a = { policy: "key", id: "a", limit };
    const b = { policy: "key", id: "b", limit };
    const c = { policy: "key", id: "c", limit };
    take(a);
    take(b);
    take(a);
    take(c);
    expect(take(a).states[0]?.remaining).toBe(7);
    expect(take(b).states[0]?.remaining).toBe(9);
  });

  test("a flood of addresses pushes no key's bucket out", () => {
    const { take } = open(10);
    const key = bucket("key", 0.001, 10);
    take(key);
    for (let n = 0; n < 100; n += 1) take({ ...bucket("ip", 1, 5), id: `10.0.0.${n}` });
    expect(take(key).states[0]?.remaining).toBe(8);
  });

  test("counts the tokens taken, and a refusal only for the policy that refused, at each scrape alike", async () => {
    const { metrics, take } = open();
    const key = bucket("key", 1, 2);
    const address = bucket("ip", 1, 5);
    for (let asked = 0; asked < 5; asked += 1) take(key, address);
    const readSeries = async () =>
      (await metrics.metrics()).split("\n").filter((line) => line.includes("decisions_total{"));
    const told = await readSeries();
    const series = (policy: string, decision: string, count: number) =>
      "payment_links_rate_limit_decisions_total" +
      `{policy="${policy}",decision="${decision}",service="test"} ${count}`;
    expect(told).toEqual([
      series("key", "allowed", 2),
      series("key", "refused", 3),
      series("ip", "allowed", 2),
      series("ip", "refused", 0),
    ]);
    expect(await readSeries()).toEqual(told);
  });

  test("makes a bounded number of series, whatever policies are named", async () => {
    const { metrics, take } = open();
    for (let n = 0; n < 100; n += 1) take(bucket(`policy-${n}`, 1, 2));
    const text = await metrics.metrics();
    expect(text.match(/policy="[^"]+",decision="allowed"/g)).toHaveLength(17);
  });
});
