import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import type { Decision } from "./limiter.ts";
import {
  createLimiterRig,
  degradedIs,
  commands,
  newBucket,
  redisUrl,
  redisNameOf,
  still,
} from "./testing/limiter-rig.ts";

const rig = createLimiterRig();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl);
});
afterEach(() => rig.close());
afterAll(() => redis.quit());

const few = { tokensPerSecond: 0.001, burst: 5 };

describe("a caller over its limit", () => {
  test("is refused from memory: Redis hears no more of it", async () => {
    const { limiter, proxy } = await rig.openProxied();
    const buckets = [newBucket(few), newBucket(still, "ip")];
    for (let call = 0; call < 5; call += 1) await limiter.take(buckets);
    const before = asked(proxy);
    for (let call = 0; call < 1_000; call += 1) {
      // No promise: nothing was asked.
      expect(limiter.take(buckets)).toMatchObject({ isAllowed: false });
    }
    expect(asked(proxy)).toBe(before);
    const { states } = limiter.take(buckets) as Decision;
    expect(states.map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
      [false, 0],
      [true, 95],
    ]);
    // 1,000 s for a token, less the time since then.
    expect(states[0]?.retryAfterMs).toBeGreaterThan(900_000);
    // For anybody else at the same address Redis is asked.
    expect(await limiter.take([newBucket(), buckets[1] ?? newBucket()])).toMatchObject({
      isAllowed: true,
    });
  });

  test("also where another process took the last token, once Redis has said so", async () => {
    const [one, other] = [await rig.openReady(), await rig.openReady()];
    const key = newBucket(few);
    for (let call = 0; call < 5; call += 1) await one.limiter.take([key]);
    const first = other.limiter.take([key]);
    expect(first).toBeInstanceOf(Promise);
    expect((await first).isAllowed).toBe(false);
    expect(other.limiter.take([key])).toMatchObject({ isAllowed: false });
  });

  test("passes again as soon as it has a token, as often as the limit says", async () => {
    const { limiter } = await rig.openReady();
    const key = newBucket({ tokensPerSecond: 50, burst: 2 });
    const startedAt = performance.now();
    let passed = 0;
    let fromMemory = 0;
    let longestMs = 0;
    while (passed < 20 || fromMemory < 10) {
      const taken = limiter.take([key]);
      if (!(taken instanceof Promise)) {
        fromMemory += 1;
        longestMs = Math.max(longestMs, ...taken.states.map(({ retryAfterMs }) => retryAfterMs));
        await injectDelay("load pace", 1);
      }
      if ((await taken).isAllowed) passed += 1;
    }
    const seconds = (performance.now() - startedAt) / 1000;
    expect(passed).toBeLessThanOrEqual(2 + 50 * seconds);
    // A token takes 20 ms.
    expect(longestMs).toBeLessThanOrEqual(20);
  });

  test("is not kept out by memory for longer than a token takes, if Redis lost its bucket", async () => {
    const { limiter } = await rig.openReady();
    // A token takes a second, the whole bucket longer than the test waits.
    const burst = 400;
    const key = newBucket({ tokensPerSecond: 1, burst });
    const taken = Array.from({ length: burst + 100 }, async () => limiter.take([key]));
    expect((await Promise.all(taken)).some(({ isAllowed }) => !isAllowed)).toBe(true);
    expect(await redis.del(redisNameOf(key))).toBe(1);
    const passed = await waitUntil("it passes", async () => {
      const decision = await limiter.take([key]);
      return decision.isAllowed && decision;
    });
    expect(passed.states[0]?.remaining).toBe(burst - 1);
  });
});

describe("a Redis that comes back empty", () => {
  test("is told what was taken without it, and grants no burst twice", async () => {
    const { limiter, metrics, proxy } = await rig.openProxied();
    const used = newBucket();
    const fresh = newBucket();
    await limiter.take([used]);
    await proxy.kill();
    await degradedIs(metrics, 1);
    for (let call = 0; call < 69; call += 1) void limiter.take([used]);
    expect(await redis.del(redisNameOf(used))).toBe(1);
    await proxy.pass();
    await degradedIs(metrics, 0);
    expect((await limiter.take([used])).states[0]?.remaining).toBe(100 - 70 - 1);
    expect((await limiter.take([fresh])).states[0]?.remaining).toBe(99);
    // Told once: from now on only Redis counts.
    expect((await limiter.take([used])).states[0]?.remaining).toBe(100 - 70 - 2);
  });

  test("a process that shares with others tells which part of its own share is gone", async () => {
    const { limiter, metrics, proxy } = await rig.openProxied(4);
    const key = newBucket();
    await proxy.kill();
    await degradedIs(metrics, 1);
    for (let call = 0; call < 15; call += 1) void limiter.take([key]);
    await proxy.pass();
    await degradedIs(metrics, 0);
    // 15 of its 25, so 60 of all 100.
    expect((await limiter.take([key])).states[0]?.remaining).toBe(100 - 60 - 1);
  });
});

/** How often Redis was asked for a key's bucket; a probe may fall in between. */
const asked = (proxy: Parameters<typeof commands>[0]): number =>
  commands(proxy).filter((command) => command.includes(":key:")).length;
