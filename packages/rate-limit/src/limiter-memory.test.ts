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
  test("is rejected from memory, without another request to Redis", async () => {
    const { limiter, proxy } = await rig.startProxiedLimiter();
    const buckets = [createBucket(smallLimit), createBucket(slowLimit, "ip")];
    for (let call = 0; call < 5; call += 1) await limiter.take(buckets);
    const commandsBefore = countKeyCommands(proxy);
    for (let call = 0; call < 1_000; call += 1) {
      // A decision without a promise proves that Redis was not called.
      expect(limiter.take(buckets)).toMatchObject({ isAllowed: false });
    }
    expect(countKeyCommands(proxy)).toBe(commandsBefore);
    const { states } = limiter.take(buckets) as Decision;
    expect(states.map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
      [false, 0],
      [true, 95],
    ]);
    // A token takes 1,000 s, minus the time since the last take.
    expect(states[0]?.retryAfterMs).toBeGreaterThan(900_000);
    // Another caller at the same address still uses Redis.
    expect(await limiter.take([createBucket(), buckets[1] ?? createBucket()])).toMatchObject({
      isAllowed: true,
    });
  });

  test("is rejected from memory even when another process took the last token, once Redis has reported it", async () => {
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

  test("passes as soon as it has a token, at the rate of the limit", async () => {
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
    // One token takes 20 ms.
    expect(longestRetryMs).toBeLessThanOrEqual(20);
  });

  test("is rejected from memory for at most one token's refill time when Redis lost its bucket", async () => {
    const { limiter } = await rig.startConnectedLimiter();
    // One token takes 1 s to refill. The whole bucket takes longer than the test waits.
    const burst = 400;
    const bucket = createBucket({ tokensPerSecond: 1, burst });
    const result = Array.from({ length: burst + 100 }, async () => limiter.take([bucket]));
    expect((await Promise.all(result)).some(({ isAllowed }) => !isAllowed)).toBe(true);
    expect(await redis.del(toRedisKey(bucket))).toBe(1);
    const allowedDecision = await waitUntil("the request is allowed", async () => {
      const decision = await limiter.take([bucket]);
      return decision.isAllowed && decision;
    });
    expect(allowedDecision.states[0]?.remaining).toBe(burst - 1);
  });
});

describe("a Redis that restarts empty", () => {
  test("receives what was taken during the outage, and grants no second burst", async () => {
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
    // The debt is sent once. After that, only the debt in Redis matters.
    expect((await limiter.take([usedBucket])).states[0]?.remaining).toBe(100 - 70 - 2);
  });

  test("receives from each of several processes the used fraction of that process's share", async () => {
    const { limiter, metrics, proxy } = await rig.startProxiedLimiter(4);
    const bucket = createBucket();
    await proxy.kill();
    await waitForDegraded(metrics, 1);
    for (let call = 0; call < 15; call += 1) void limiter.take([bucket]);
    await proxy.forward();
    await waitForDegraded(metrics, 0);
    // 15 of this process's 25 tokens are used. This corresponds to 60 of all 100 tokens.
    expect((await limiter.take([bucket])).states[0]?.remaining).toBe(100 - 60 - 1);
  });
});

/** Counts the commands to Redis for buckets of API keys. Probes are not included. */
const countKeyCommands = (proxy: Parameters<typeof listEvalCommands>[0]): number =>
  listEvalCommands(proxy).filter((command) => command.includes(":key:")).length;
