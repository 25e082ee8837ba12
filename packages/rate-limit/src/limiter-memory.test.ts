import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import type { Decision } from "./limiter.ts";
import {
  createLimiterRig,
  waitForDegraded,
  listEvalCommands,
  createBucket,
  redisUrl,
  toRedisKey,
  slowLimit,
} from "./testing/limiter-rig.ts";

const rig = createLimiterRig();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl);
});
afterEach(() => rig.close());
afterAll(() => redis.quit());

const smallLimit = { tokensPerSecond: 0.001, burst: 5 };

describe("a caller over its limit", () => {
  test("is refused from memory: Redis hears no more of it", async () => {
    const { limiter, proxy } = await rig.startProxiedLimiter();
    const buckets = [createBucket(smallLimit), createBucket(slowLimit, "ip")];
    for (let call = 0; call < 5; call += 1) await limiter.take(buckets);
    const commandsBefore = countKeyCommands(proxy);
    for (let call = 0; call < 1_000; call += 1) {
      // No promise: nothing was asked.
      expect(limiter.take(buckets)).toMatchObject({ isAllowed: false });
    }
    expect(countKeyCommands(proxy)).toBe(commandsBefore);
    const { states } = limiter.take(buckets) as Decision;
    expect(states.map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
      [false, 0],
      [true, 95],
    ]);
    // 1,000 s for a token, less the time since then.
    expect(states[0]?.retryAfterMs).toBeGreaterThan(900_000);
    // For anybody else at the same address Redis is asked.
    expect(await limiter.take([createBucket(), buckets[1] ?? createBucket()])).toMatchObject({
      isAllowed: true,
    });
  });

  test("also where another process took the last token, once Redis has said so", async () => {
    const [firstProcess, secondProcess] = [
      await rig.startConnectedLimiter(),
      await rig.startConnectedLimiter(),
    ];
    const bucket = createBucket(smallLimit);
    for (let call = 0; call < 5; call += 1) await firstProcess.limiter.take([bucket]);
    const firstTake = secondProcess.limiter.take([bucket]);
    expect(firstTake).toBeInstanceOf(Promise);
    expect((await firstTake).isAllowed).toBe(false);
    expect(secondProcess.limiter.take([bucket])).toMatchObject({ isAllowed: false });
  });

  test("passes again as soon as it has a token, as often as the limit says", async () => {
    const { limiter } = await rig.startConnectedLimiter();
    const bucket = createBucket({ tokensPerSecond: 50, burst: 2 });
    const startedAt = performance.now();
    let passedCount = 0;
    let localDecisionCount = 0;
    let longestRetryMs = 0;
    while (passedCount < 20 || localDecisionCount < 10) {
      const result = limiter.take([bucket]);
      if (!(result instanceof Promise)) {
        localDecisionCount += 1;
        longestRetryMs = Math.max(
          longestRetryMs,
          ...result.states.map(({ retryAfterMs }) => retryAfterMs),
        );
        await injectDelay("load pace", 1);
      }
      if ((await result).isAllowed) passedCount += 1;
    }
    const seconds = (performance.now() - startedAt) / 1000;
    expect(passedCount).toBeLessThanOrEqual(2 + 50 * seconds);
    // A token takes 20 ms.
    expect(longestRetryMs).toBeLessThanOrEqual(20);
  });

  test("is not kept out by memory for longer than a token takes, if Redis lost its bucket", async () => {
    const { limiter } = await rig.startConnectedLimiter();
    // A token takes a second, the whole bucket longer than the test waits.
    const burst = 400;
    const bucket = createBucket({ tokensPerSecond: 1, burst });
    const result = Array.from({ length: burst + 100 }, async () => limiter.take([bucket]));
    expect((await Promise.all(result)).some(({ isAllowed }) => !isAllowed)).toBe(true);
    expect(await redis.del(toRedisKey(bucket))).toBe(1);
    const passedCount = await waitUntil("it passes", async () => {
      const decision = await limiter.take([bucket]);
      return decision.isAllowed && decision;
    });
    expect(passedCount.states[0]?.remaining).toBe(burst - 1);
  });
});

describe("a Redis that comes back empty", () => {
  test("is told what was taken without it, and grants no burst twice", async () => {
    const { limiter, metrics, proxy } = await rig.startProxiedLimiter();
    const usedBucket = createBucket();
    const freshBucket = createBucket();
    await limiter.take([usedBucket]);
    await proxy.kill();
    await waitForDegraded(metrics, 1);
    for (let call = 0; call < 69; call += 1) void limiter.take([usedBucket]);
    expect(await redis.del(toRedisKey(usedBucket))).toBe(1);
    await proxy.forward();
    await waitForDegraded(metrics, 0);
    expect((await limiter.take([usedBucket])).states[0]?.remaining).toBe(100 - 70 - 1);
    expect((await limiter.take([freshBucket])).states[0]?.remaining).toBe(99);
    // Told once: from now on only Redis counts.
    expect((await limiter.take([usedBucket])).states[0]?.remaining).toBe(100 - 70 - 2);
  });

  test("a process that shares with others tells which part of its own share is gone", async () => {
    const { limiter, metrics, proxy } = await rig.startProxiedLimiter(4);
    const bucket = createBucket();
    await proxy.kill();
    await waitForDegraded(metrics, 1);
    for (let call = 0; call < 15; call += 1) void limiter.take([bucket]);
    await proxy.forward();
    await waitForDegraded(metrics, 0);
    // 15 of its 25, so 60 of all 100.
    expect((await limiter.take([bucket])).states[0]?.remaining).toBe(100 - 60 - 1);
  });
});

/** How often Redis was asked for a key's bucket; a probe may fall in between. */
const countKeyCommands = (proxy: Parameters<typeof listEvalCommands>[0]): number =>
  listEvalCommands(proxy).filter((command) => command.includes(":key:")).length;
