import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { hash, randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { blockEventLoop } from "@payment-links/runtime/testing/inject-delay";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import type { Bucket, Limiter } from "./limiter.ts";
import {
  productionReplyTimeout,
  listEvalCommands,
  createLimiterRig,
  readDegradedGauge,
  waitForDegraded,
  shortReplyTimeout,
  createBucket,
  redisUrl,
  slowLimit,
} from "./testing/limiter-rig.ts";

describe("createRedisLimiter", () => {
  const { startLimiter, startProxiedLimiter, startProxy, startConnectedLimiter, close } =
    createLimiterRig();
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(redisUrl);
  });
  afterEach(close);
  afterAll(() => redis.quit());

  test("allows exactly 100 of 400 concurrent calls to two processes on a burst of 100 (rule API-21)", async () => {
    const limiters = [
      (await startConnectedLimiter()).limiter,
      (await startConnectedLimiter()).limiter,
    ];
    const keyBucket = createBucket();
    const addressBucket = createBucket({ tokensPerSecond: 0.001, burst: 1_000 }, "ip");
    const calls = Array.from({ length: 400 }, async (_, index) =>
      limiters[index % 2]?.take([keyBucket, addressBucket]),
    );
    const decisions = await Promise.all(calls);
    expect(decisions.filter((decision) => decision?.isAllowed)).toHaveLength(100);
    // All or nothing: the address's bucket was charged only for the 100 allowed calls.
    const [state] = (await limiters[0]?.take([addressBucket]))?.states ?? [];
    expect(state?.remaining).toBe(1_000 - 100 - 1);
  });

  test("refills by Redis' own clock and allows only the burst plus the refilled tokens", async () => {
    const { limiter } = await startConnectedLimiter();
    const burst = 100;
    const keyBucket = createBucket({ tokensPerSecond: 100, burst });
    const startedAt = performance.now();
    let passedCount = 0;
    while (passedCount < burst + 20) {
      if ((await limiter.take([keyBucket])).isAllowed) passedCount += 1;
    }
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    expect(passedCount).toBeLessThanOrEqual(burst + 100 * elapsedSeconds);
  });

  test("accepts a caller whose bucket is nearly full after this machine's clock was set back", async () => {
    const clock = createFakeClock(new Date());
    const { limiter } = await startConnectedLimiter(redisUrl, 1, { clock });
    // The clock goes back by more than the time of a full refill.
    const bucket = createBucket({ tokensPerSecond: 0.1, burst: 100 });
    await limiter.take([bucket]);
    clock.setBack(3_600_000);
    expect(await limiter.take([bucket])).toMatchObject({
      isAllowed: true,
      states: [{ remaining: 98 }],
    });
  });

  test("sends one command per request, however many buckets it names", async () => {
    const { limiter, proxy } = await startProxiedLimiter();
    const commandsBefore = listEvalCommands(proxy);
    const buckets = [createBucket(), createBucket(slowLimit, "ip")];
    for (let call = 0; call < 20; call += 1) await limiter.take(buckets);
    const sentCommands = listEvalCommands(proxy).slice(commandsBefore.length);
    // A probe can run in between.
    const takeCommands = sentCommands.filter((command) => command.includes(":ip:"));
    expect(takeCommands).toHaveLength(20);
    expect(sentCommands.length - takeCommands.length).toBeLessThanOrEqual(1);
  });

  test("batches the requests of one event-loop turn into one command with one decision per call", async () => {
    const { limiter, proxy } = await startProxiedLimiter();
    const commandsBefore = listEvalCommands(proxy);
    const bucket = createBucket(slowLimit, "turn");
    const otherBucket = createBucket({ ...slowLimit, burst: 3 }, "turn");
    const calls = [
      [bucket],
      [bucket, otherBucket],
      [otherBucket],
      [bucket, otherBucket],
      [otherBucket],
      [bucket],
    ];
    const decisions = await Promise.all(calls.map(async (buckets) => limiter.take(buckets)));
    const sentCommands = listEvalCommands(proxy).slice(commandsBefore.length);
    expect(sentCommands.filter((command) => command.includes(":turn:"))).toHaveLength(1);
    expect(decisions.map(({ isAllowed }) => isAllowed)).toEqual([
      true,
      true,
      true,
      true,
      false,
      true,
    ]);
    const remaining = decisions.map(({ states }) => states.map((state) => state.remaining));
    expect(remaining).toEqual([[99], [98, 2], [1], [97, 0], [0], [96]]);
  });

  test("splits a turn with very many requests into several commands", async () => {
    const { limiter, proxy } = await startProxiedLimiter();
    const commandsBefore = listEvalCommands(proxy);
    const bucket = createBucket({ ...slowLimit, burst: 1_000 }, "crowd");
    const decisions = await Promise.all(
      Array.from({ length: 250 }, async () => limiter.take([bucket])),
    );
    const sentCommands = listEvalCommands(proxy).slice(commandsBefore.length);
    expect(sentCommands.filter((command) => command.includes(":crowd:"))).toHaveLength(3);
    expect(decisions.map(({ states }) => states[0]?.remaining)).toEqual(
      Array.from({ length: 250 }, (_, index) => 999 - index),
    );
  });

  test("stores neither ids nor addresses in Redis, and gives every key an expiry", async () => {
    const { limiter } = await startConnectedLimiter();
    const addressBucket = { ...createBucket(slowLimit, "ip"), id: `203.0.113.7-${randomUUID()}` };
    const commandsBefore = new Set(await redis.keys("*rate-limit*"));
    await limiter.take([createBucket(), addressBucket]);
    const addedKeys = (await redis.keys("*rate-limit*")).filter(
      (keyBucket) => !commandsBefore.has(keyBucket),
    );
    const bucketKeys = addedKeys.filter((keyBucket) => !keyBucket.endsWith(":probe"));
    expect(bucketKeys.length).toBeGreaterThanOrEqual(2);
    for (const keyBucket of bucketKeys) {
      expect(keyBucket).toMatch(/^\{payment-links:rate-limit:v2\}:(?:key|ip|probe):[\w-]{22}$/);
      expect(await redis.pttl(keyBucket)).toBeGreaterThan(0);
    }
  });

  test("hides an address's bucket in Redis from readers who do not know the secret", async () => {
    const addressBucket = { ...createBucket(slowLimit, "ip"), id: `203.0.113.7-${randomUUID()}` };
    const guessableHash = hash("sha256", addressBucket.id, "base64url").slice(0, 22);
    const takeOne = async (secret: string) => {
      const { limiter } = await startConnectedLimiter(redisUrl, 1, { secret });
      return (await limiter.take([addressBucket])).states[0]?.remaining;
    };
    const firstRemaining = await takeOne("one");
    expect(
      (await redis.keys("*rate-limit*")).filter((keyBucket) => keyBucket.includes(guessableHash)),
    ).toEqual([]);
    expect(await takeOne("another")).toBe(firstRemaining);
    expect(await takeOne("one")).toBe((firstRemaining ?? 0) - 1);
  });

  test("reloads its script after SCRIPT FLUSH, without a failed call", async () => {
    const { limiter, metrics } = await startConnectedLimiter();
    const keyBucket = createBucket();
    await limiter.take([keyBucket]);
    await redis.script("FLUSH");
    const decisions = await Promise.all([limiter.take([keyBucket]), limiter.take([keyBucket])]);
    expect(decisions.map((decision) => decision.states[0]?.remaining)).toEqual([98, 97]);
    expect(await readDegradedGauge(metrics)).toBe(0);
  });

  test("waits 50 ms for a Redis that hangs (rule API-23)", async () => {
    const { limiter, logLines, proxy } = await startProxiedLimiter(1, productionReplyTimeout);
    proxy.stall();
    expect(await limiter.take([createBucket()])).toMatchObject({ isAllowed: true });
    const warning = logLines.find(({ level }) => level === "warn");
    expect(warning).toMatchObject({ err: { message: "no response within 50 ms" } });
  });

  test("waits only once for a Redis that hangs, and returns to Redis after it recovers (rule API-23)", async () => {
    const { limiter, metrics, logLines, proxy } = await startProxiedLimiter(1, shortReplyTimeout);
    const keyBucket = createBucket();
    proxy.stall();
    const decisions = await Promise.all([limiter.take([keyBucket]), limiter.take([keyBucket])]);
    expect(decisions.map((decision) => decision.isAllowed)).toEqual([true, true]);

    // A decision without a promise proves that the call does not wait.
    expect(limiter.take([keyBucket])).toMatchObject({ isAllowed: true });
    expect(await readDegradedGauge(metrics)).toBe(1);

    await proxy.forward();
    await waitForDegraded(metrics, 0);
    expect(limiter.take([keyBucket])).toBeInstanceOf(Promise);
    expect(logLines.map(({ level, msg }) => [level, msg])).toEqual([
      ["info", "rate limiting uses Redis"],
      ["warn", "Redis unavailable or slow, counting rate limits in this process"],
      ["info", "rate limiting uses Redis"],
    ]);
  });

  test("answers pending and later calls after Redis was killed, and returns to Redis after it recovers (rule API-23)", async () => {
    const { limiter, metrics, logLines, proxy } = await startProxiedLimiter();
    const keyBucket = createBucket();
    const pendingTakes = Array.from({ length: 50 }, async () => limiter.take([keyBucket]));
    await proxy.kill();
    const decisions = await Promise.all(pendingTakes);
    expect(decisions.every((decision) => decision.isAllowed)).toBe(true);
    await waitForDegraded(metrics, 1);
    expect(limiter.take([keyBucket])).not.toBeInstanceOf(Promise);

    await proxy.forward();
    await waitForDegraded(metrics, 0);
    expect(logLines).toHaveLength(3);
  });

  test("decides a request itself as soon as its connection is lost (rule API-23)", async () => {
    const { limiter, metrics, proxy } = await startProxiedLimiter();
    const bucket = createBucket(slowLimit, "lost");
    proxy.dropResponseTo(":lost:");
    const pendingTake = limiter.take([bucket]);
    await waitForDegraded(metrics, 1);
    await waitForDegraded(metrics, 0);
    expect(await Promise.race([pendingTake, Promise.resolve("it still waits")])).toMatchObject({
      isAllowed: true,
    });
  });

  test("treats a Redis slower than the timeout as unavailable", async () => {
    const { limiter, metrics, proxy } = await startProxiedLimiter(1, shortReplyTimeout);
    await proxy.forward(2 * shortReplyTimeout.replyTimeoutMs);
    const decision = await limiter.take([createBucket()]);
    expect(decision.isAllowed).toBe(true);
    expect(await readDegradedGauge(metrics)).toBe(1);
    expect(limiter.take([createBucket()])).not.toBeInstanceOf(Promise);
    await proxy.forward(0);
    await waitForDegraded(metrics, 0);
  });

  test("does not blame Redis when this process was busy for longer than the timeout", async () => {
    const replyTimeoutMs = provokedTimeoutMs(300);
    const takeWhileBusy = async () => {
      const { limiter, metrics } = await startConnectedLimiter(undefined, 1, { replyTimeoutMs });
      // After an immediate, the event loop runs its timers first and then reads its sockets.
      await new Promise((resolve) => setImmediate(resolve));
      const pendingTake = limiter.take([createBucket()]);
      // Less than the 500 ms timeout of the connection itself.
      blockEventLoop(replyTimeoutMs + 100);
      const remaining = (await pendingTake).states[0]?.remaining;
      return { remaining, degraded: await readDegradedGauge(metrics) };
    };
    let result = await takeWhileBusy();
    // On a busy machine, Redis itself can reply too late. A limiter that measures its own delay
    // blames Redis every time.
    for (let retries = 0; retries < 2 && result.degraded === 1; retries += 1) {
      result = await takeWhileBusy();
    }
    expect(result).toEqual({ remaining: 99, degraded: 0 });
  });

  test("grants only this process's share of the remaining tokens without Redis, not a fresh burst (rule API-23)", async () => {
    const { limiter, metrics, proxy } = await startProxiedLimiter(4);
    const usedBucket = await takeFromNewBucket(limiter, 60);
    await proxy.kill();
    await waitForDegraded(metrics, 1);
    const passedCount = (bucket: Bucket): number => {
      const decisions = Array.from({ length: 60 }, () => limiter.take([bucket]));
      return decisions.filter((decision) => !(decision instanceof Promise) && decision.isAllowed)
        .length;
    };
    expect(passedCount(usedBucket)).toBe((100 - 60) / 4);
    expect(passedCount(createBucket())).toBe(100 / 4);
  });

  test("grants at least one token without Redis, however many processes share a small burst", async () => {
    const { limiter, metrics, proxy } = await startProxiedLimiter(4);
    await proxy.kill();
    await waitForDegraded(metrics, 1);
    const smallBucket = createBucket({ ...slowLimit, burst: 2 });
    const decisions = [limiter.take([smallBucket]), limiter.take([smallBucket])];
    expect(decisions).toMatchObject([{ isAllowed: true }, { isAllowed: false }]);
  });

  /** Takes tokens from a new bucket in Redis. */
  const takeFromNewBucket = async (limiter: Limiter, tokenCount: number): Promise<Bucket> => {
    const bucket = createBucket();
    for (let call = 0; call < tokenCount; call += 1) await limiter.take([bucket]);
    return bucket;
  };

  test("decides immediately from the start when Redis was never available, and logs it once", async () => {
    const proxy = await startProxy();
    proxy.rejectConnections();
    const { limiter, metrics, logLines } = startLimiter(`redis://127.0.0.1:${proxy.port}`);
    expect(limiter.take([createBucket()])).toMatchObject({ isAllowed: true });
    expect(await readDegradedGauge(metrics)).toBe(1);
    await waitUntil("the connection was retried several times", () => proxy.connectionCount() >= 4);
    expect(logLines).toMatchObject([{ level: "warn" }]);
  });

  test("closes its connection without logging a lost Redis", async () => {
    const { limiter, logLines, proxy } = await startProxiedLimiter();
    await limiter.take([createBucket()]);
    await limiter.close();
    await waitUntil("the connection is closed", () => proxy.openConnectionCount() === 0);
    expect(logLines).toHaveLength(1);
  });
});
