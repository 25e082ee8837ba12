import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { hash, randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { blockEventLoop } from "@payment-links/runtime/testing/inject-delay";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import type { Bucket, Limiter } from "./limiter.ts";
import {
  asInProduction,
  commands,
  createLimiterRig,
  degraded,
  degradedIs,
  impatient,
  newBucket,
  redisUrl,
  still,
} from "./testing/limiter-rig.ts";

describe("createRedisLimiter", () => {
  const { open, openProxied, openProxy, openReady, close } = createLimiterRig();
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(redisUrl);
  });
  afterEach(close);
  afterAll(() => redis.quit());

  test("of 400 calls at once to two processes on a burst of 100, exactly 100 pass (rule API-21)", async () => {
    const limiters = [(await openReady()).limiter, (await openReady()).limiter];
    const key = newBucket();
    const address = newBucket({ tokensPerSecond: 0.001, burst: 1_000 }, "ip");
    const calls = Array.from({ length: 400 }, async (_, n) =>
      limiters[n % 2]?.take([key, address]),
    );
    const decisions = await Promise.all(calls);
    expect(decisions.filter((one) => one?.isAllowed)).toHaveLength(100);
    // All or nothing: the address paid only for the 100 that passed.
    const [state] = (await limiters[0]?.take([address]))?.states ?? [];
    expect(state?.remaining).toBe(1_000 - 100 - 1);
  });

  test("refills by Redis' own clock: the burst and what was refilled pass, and no more", async () => {
    const { limiter } = await openReady();
    const burst = 100;
    const key = newBucket({ tokensPerSecond: 100, burst });
    const startedAt = performance.now();
    let passed = 0;
    while (passed < burst + 20) {
      if ((await limiter.take([key])).isAllowed) passed += 1;
    }
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    expect(passed).toBeLessThanOrEqual(burst + 100 * elapsedSeconds);
  });

  test("lets a caller in whose bucket is all but full though this machine's clock is set back", async () => {
    const clock = createHeldClock(new Date());
    const { limiter } = await openReady(redisUrl, 1, { clock });
    // By more than it takes to refill.
    const bucket = newBucket({ tokensPerSecond: 0.1, burst: 100 });
    await limiter.take([bucket]);
    clock.setBack(3_600_000);
    expect(await limiter.take([bucket])).toMatchObject({
      isAllowed: true,
      states: [{ remaining: 98 }],
    });
  });

  test("one request is one command, however many buckets it names", async () => {
    const { limiter, proxy } = await openProxied();
    const before = commands(proxy);
    const buckets = [newBucket(), newBucket(still, "ip")];
    for (let call = 0; call < 20; call += 1) await limiter.take(buckets);
    const sent = commands(proxy).slice(before.length);
    // A probe may fall among them.
    const takes = sent.filter((command) => command.includes(":ip:"));
    expect(takes).toHaveLength(20);
    expect(sent.length - takes.length).toBeLessThanOrEqual(1);
  });

  test("what is asked in one turn of the event loop is one command, and each call has its own answer", async () => {
    const { limiter, proxy } = await openProxied();
    const before = commands(proxy);
    const bucket = newBucket(still, "turn");
    const other = newBucket({ ...still, burst: 3 }, "turn");
    const calls = [[bucket], [bucket, other], [other], [bucket, other], [other], [bucket]];
    const decisions = await Promise.all(calls.map(async (buckets) => limiter.take(buckets)));
    const sent = commands(proxy).slice(before.length);
    expect(sent.filter((command) => command.includes(":turn:"))).toHaveLength(1);
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

  test("a turn with very many questions is several commands", async () => {
    const { limiter, proxy } = await openProxied();
    const before = commands(proxy);
    const bucket = newBucket({ ...still, burst: 1_000 }, "crowd");
    const decisions = await Promise.all(
      Array.from({ length: 250 }, async () => limiter.take([bucket])),
    );
    const sent = commands(proxy).slice(before.length);
    expect(sent.filter((command) => command.includes(":crowd:"))).toHaveLength(3);
    expect(decisions.map(({ states }) => states[0]?.remaining)).toEqual(
      Array.from({ length: 250 }, (_, n) => 999 - n),
    );
  });

  test("Redis holds neither the id nor the address, and nothing that does not end", async () => {
    const { limiter } = await openReady();
    const address = { ...newBucket(still, "ip"), id: `203.0.113.7-${randomUUID()}` };
    const before = new Set(await redis.keys("*rate-limit*"));
    await limiter.take([newBucket(), address]);
    const added = (await redis.keys("*rate-limit*")).filter((key) => !before.has(key));
    const mine = added.filter((key) => !key.endsWith(":probe"));
    expect(mine.length).toBeGreaterThanOrEqual(2);
    for (const key of mine) {
      expect(key).toMatch(/^\{payment-links:rate-limit:v2\}:(?:key|ip|probe):[\w-]{22}$/);
      expect(await redis.pttl(key)).toBeGreaterThan(0);
    }
  });

  test("nobody finds the bucket of an address in Redis who does not know the secret", async () => {
    const address = { ...newBucket(still, "ip"), id: `203.0.113.7-${randomUUID()}` };
    const guessed = hash("sha256", address.id, "base64url").slice(0, 22);
    const left = async (secret: string) => {
      const { limiter } = await openReady(redisUrl, 1, { secret });
      return (await limiter.take([address])).states[0]?.remaining;
    };
    const first = await left("one");
    expect((await redis.keys("*rate-limit*")).filter((key) => key.includes(guessed))).toEqual([]);
    expect(await left("another")).toBe(first);
    expect(await left("one")).toBe((first ?? 0) - 1);
  });

  test("a Redis that forgot its scripts is taught again, and nobody notices", async () => {
    const { limiter, metrics } = await openReady();
    const key = newBucket();
    await limiter.take([key]);
    await redis.script("FLUSH");
    const decisions = await Promise.all([limiter.take([key]), limiter.take([key])]);
    expect(decisions.map((one) => one.states[0]?.remaining)).toEqual([98, 97]);
    expect(await degraded(metrics)).toBe(0);
  });

  test("Redis hangs: a call waits 50 ms (rule API-23)", async () => {
    const { limiter, lines, proxy } = await openProxied(1, asInProduction);
    proxy.stall();
    expect(await limiter.take([newBucket()])).toMatchObject({ isAllowed: true });
    const warning = lines.find(({ level }) => level === "warn");
    expect(warning).toMatchObject({ err: { message: "there was no answer within 50 ms" } });
  });

  test("Redis hangs: the first call waits, the next ones not at all, and Redis is taken back (rule API-23)", async () => {
    const { limiter, metrics, lines, proxy } = await openProxied(1, impatient);
    const key = newBucket();
    proxy.stall();
    const decisions = await Promise.all([limiter.take([key]), limiter.take([key])]);
    expect(decisions.map((one) => one.isAllowed)).toEqual([true, true]);

    // No promise: there is nothing to wait for.
    expect(limiter.take([key])).toMatchObject({ isAllowed: true });
    expect(await degraded(metrics)).toBe(1);

    await proxy.pass();
    await degradedIs(metrics, 0);
    expect(limiter.take([key])).toBeInstanceOf(Promise);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ["info", "rate limits are counted in Redis"],
      ["warn", "Redis is away or slow: rate limits are counted by this process"],
      ["info", "rate limits are counted in Redis"],
    ]);
  });

  test("Redis killed: calls under way and after it are answered, and Redis is taken back (rule API-23)", async () => {
    const { limiter, metrics, lines, proxy } = await openProxied();
    const key = newBucket();
    const underWay = Array.from({ length: 50 }, async () => limiter.take([key]));
    await proxy.kill();
    const decisions = await Promise.all(underWay);
    expect(decisions.every((one) => one.isAllowed)).toBe(true);
    await degradedIs(metrics, 1);
    expect(limiter.take([key])).not.toBeInstanceOf(Promise);

    await proxy.pass();
    await degradedIs(metrics, 0);
    expect(lines).toHaveLength(3);
  });

  test("Redis slower than calls wait counts as away, though it answers", async () => {
    const { limiter, metrics, proxy } = await openProxied(1, impatient);
    await proxy.pass(2 * impatient.answerTimeoutMs);
    const decision = await limiter.take([newBucket()]);
    expect(decision.isAllowed).toBe(true);
    expect(await degraded(metrics)).toBe(1);
    expect(limiter.take([newBucket()])).not.toBeInstanceOf(Promise);
    await proxy.pass(0);
    await degradedIs(metrics, 0);
  });

  test("a process busy for longer than calls wait does not blame Redis", async () => {
    const answerTimeoutMs = provokedTimeoutMs(300);
    const { limiter, metrics } = await openReady(undefined, 1, { answerTimeoutMs });
    const key = newBucket();
    // After an immediate the event loop looks at its timers first, and only then at its sockets.
    await new Promise((resolve) => setImmediate(resolve));
    const taken = limiter.take([key]);
    // Within the connection's own 500 ms.
    blockEventLoop(answerTimeoutMs + 100);
    expect((await taken).states[0]?.remaining).toBe(99);
    expect(await degraded(metrics)).toBe(0);
  });

  test("without Redis each process grants its part of what was left, not a fresh burst (rule API-23)", async () => {
    const { limiter, metrics, proxy } = await openProxied(4);
    const used = await spend(limiter, 60);
    await proxy.kill();
    await degradedIs(metrics, 1);
    const passed = (bucket: Bucket): number => {
      const decisions = Array.from({ length: 60 }, () => limiter.take([bucket]));
      return decisions.filter((one) => !(one instanceof Promise) && one.isAllowed).length;
    };
    expect(passed(used)).toBe((100 - 60) / 4);
    expect(passed(newBucket())).toBe(100 / 4);
  });

  test("without Redis each process grants something, however many share a small burst", async () => {
    const { limiter, metrics, proxy } = await openProxied(4);
    await proxy.kill();
    await degradedIs(metrics, 1);
    const small = newBucket({ ...still, burst: 2 });
    const decisions = [limiter.take([small]), limiter.take([small])];
    expect(decisions).toMatchObject([{ isAllowed: true }, { isAllowed: false }]);
  });

  /** Takes tokens of a new bucket from Redis. */
  const spend = async (limiter: Limiter, tokens: number): Promise<Bucket> => {
    const bucket = newBucket();
    for (let call = 0; call < tokens; call += 1) await limiter.take([bucket]);
    return bucket;
  };

  test("Redis never there: all is answered at once from the start, and logged once", async () => {
    const proxy = await openProxy();
    proxy.hangUp();
    const { limiter, metrics, lines } = open(`redis://127.0.0.1:${proxy.port}`);
    expect(limiter.take([newBucket()])).toMatchObject({ isAllowed: true });
    expect(await degraded(metrics)).toBe(1);
    await waitUntil("it was tried again and again", () => proxy.connections() >= 4);
    expect(lines).toMatchObject([{ level: "warn" }]);
  });

  test("an orderly close says nothing of a lost Redis, and leaves no connection", async () => {
    const { limiter, lines, proxy } = await openProxied();
    await limiter.take([newBucket()]);
    await limiter.close();
    await waitUntil("the connection is gone", () => proxy.open() === 0);
    expect(lines).toHaveLength(1);
  });
});
