import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Pool, request } from "undici";
import { generateApiKey } from "@payment-links/contracts";
import { type TcpProxy, startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { type Child, startChild, waitUntilReady } from "./rig/child.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { type OwnRedis, startOwnRedis } from "./rig/own-redis.ts";
import { waitUntil } from "@payment-links/runtime/testing";

type LimitedProcess = { child: Child; pool: Pool; internalPort: number };
type Sample = { status: number; sentAtMs: number; error?: string };

const unlimitedRate = "900000:900000";
/** Redis is slow on a busy machine. It must not be treated as unavailable then. */
const slowRedisEnv = { REDIS_ANSWER_MS: "20000" };
/** Enough calls for an assertion to be meaningful. */
const requiredCallCount = 30;

describe("limits of two processes that share a Redis", () => {
  let redis: OwnRedis;
  const processes: LimitedProcess[] = [];
  const proxies: TcpProxy[] = [];
  beforeAll(async () => {
    redis = await startOwnRedis();
  });
  afterEach(async () => {
    const closing = processes.splice(0).map(async ({ child, pool }) => {
      await pool.close();
      await child.terminate("SIGTERM");
    });
    await Promise.all(closing);
    await Promise.all(proxies.splice(0).map((proxy) => proxy.kill()));
  });
  afterAll(() => redis.close());

  const startProcesses = async (
    apiKeys: readonly string[],
    env: Record<string, string>,
    count = 2,
  ) => {
    const ports = await findFreePorts(count * 2);
    const startedProcesses = Array.from({ length: count }, (_, index) => {
      const [port, internalPort = 0] = ports.slice(index * 2);
      const child = startChild("test/rig/limited-server.ts", {
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
        REDIS_URL: redis.url,
        RATE_LIMIT_REPLICAS: String(count),
        RATE_LIMIT_PER_IP: unlimitedRate,
        API_KEYS: apiKeys.join(","),
        ...env,
      });
      return { child, internalPort, pool: new Pool(`http://127.0.0.1:${port}`) };
    });
    processes.push(...startedProcesses);
    await Promise.all(
      startedProcesses.map(({ child, internalPort }) => waitUntilReady(child, internalPort)),
    );
    await waitUntilShared(startedProcesses);
    return startedProcesses;
  };

  test("let exactly 100 of 400 concurrent calls pass with a burst of 100", async () => {
    const key = generateApiKey("live");
    const startedProcesses = await startProcesses([key], {
      RATE_LIMIT_PER_KEY: "0.001:100",
      ...slowRedisEnv,
    });
    expect(await countConcurrentStatuses(startedProcesses, key)).toEqual({ 200: 100, 429: 300 });
  });

  test("stay in force without 5xx and without waits when Redis is killed under load, and are shared again afterwards", async () => {
    const [busyKey, calmKey] = [generateApiKey("live"), generateApiKey("live")];
    const laterKeys = Array.from({ length: 3 }, () => generateApiKey("live"));
    const perSecond = 50;
    const limits = { RATE_LIMIT_PER_KEY: `${perSecond}:100`, ...slowRedisEnv };
    const startedProcesses = await startProcesses([busyKey, calmKey, ...laterKeys], limits);
    const load = startLoad(startedProcesses, [
      { key: busyKey, perSecond: 4 * perSecond },
      { key: calmKey, perSecond: 0.8 * perSecond },
    ]);
    const waitForCallsSince = (sinceMs: number) =>
      waitUntil(
        "both keys have enough calls",
        () =>
          load.getSamples(calmKey, sinceMs, Infinity).length > requiredCallCount &&
          load.getSamples(busyKey, sinceMs, Infinity).some(({ status }) => status === 429),
      );
    // Uses up the burst before Redis loses its state.
    await waitForCallsSince(0);
    const outageStartMs = performance.now();
    for (let killIndex = 0; killIndex < 3; killIndex += 1) {
      const killedAtMs = performance.now();
      await redis.kill();
      // Redis stays down until these calls have responses, so no call can wait for Redis to return.
      await waitForCallsSince(killedAtMs);
      expect(await Promise.all(startedProcesses.map(readDegradedGauge))).toEqual([1, 1]);
      await redis.start();
      await waitUntilShared(startedProcesses);
      await waitForCallsSince(performance.now());
    }
    const endMs = performance.now();
    await load.stop();

    const samples = [
      ...load.getSamples(busyKey, 0, Infinity),
      ...load.getSamples(calmKey, 0, Infinity),
    ];
    expect(samples.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    const passedSamples = load
      .getSamples(busyKey, outageStartMs, endMs)
      .filter(({ status }) => status === 200);
    const allowedCount = (perSecond * (endMs - outageStartMs)) / 1000;
    const fraction = (passedSamples.length / allowedCount).toFixed(2);
    process.stderr.write(`Redis killed: ${fraction} of the limit passed\n`);
    // The bucket was empty before the kills. A bucket that Redis has lost must not be completely
    // full again.
    expect(passedSamples.length).toBeLessThanOrEqual(1.2 * allowedCount);
    expect(passedSamples.length).toBeGreaterThan(0);
    // One process can grant the whole burst again. After that, the other process must see the used
    // tokens.
    for (const key of laterKeys) {
      const startedAtMs = performance.now();
      const firstPassedCount =
        (await countConcurrentStatuses(startedProcesses.slice(0, 1), key, 150))[200] ?? 0;
      const secondPassedCount =
        (await countConcurrentStatuses(startedProcesses.slice(1), key, 50))[200] ?? 0;
      const refilledCount = (perSecond * (performance.now() - startedAtMs)) / 1000;
      expect(firstPassedCount).toBeGreaterThanOrEqual(100);
      expect(secondPassedCount).toBeLessThanOrEqual(refilledCount);
    }
  });

  test("delay only one call when Redis hangs, and use Redis again once it responds", async () => {
    const proxy = await startTcpProxy(new URL(redis.url));
    proxies.push(proxy);
    const key = generateApiKey("live");
    const env = {
      RATE_LIMIT_PER_KEY: "0.001:1000",
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      // Longer than Redis takes to respond on a busy machine.
      REDIS_ANSWER_MS: "400",
    };
    const [limitedProcess] = await startProcesses([key], env, 1);
    if (limitedProcess === undefined) throw new Error("the process is missing");
    const sendCalls = async (count: number): Promise<void> => {
      for (let sentCount = 0; sentCount < count; sentCount += 1)
        expect((await sendRequest(limitedProcess, key)).status).toBe(200);
    };
    /** Returns the number of Redis calls for the key's bucket. */
    const countBucketRequests = () => proxy.getSentText().split(":key:").length - 1;
    await sendCalls(50);
    const stallCount = 3;
    for (let index = 0; index < stallCount; index += 1) {
      proxy.stall();
      await sendCalls(1);
      const requestsBefore = countBucketRequests();
      await sendCalls(50);
      expect(countBucketRequests()).toBe(requestsBefore);
      expect(await readDegradedGauge(limitedProcess)).toBe(1);
      await proxy.forward();
      await waitUntilShared([limitedProcess]);
    }
    // Tokens that were taken during the outage are not granted again.
    const { headers } = await limitedProcess.pool.request(buildRequest(key));
    expect(headers["ratelimit"]).toContain(`"key";r=${1000 - 50 - stallCount * 51 - 1}`);
  });
});

const buildRequest = (key: string) =>
  ({ method: "GET", path: "/limited", headers: { "x-api-key": key } }) as const;

const sendRequest = async ({ pool }: LimitedProcess, key: string): Promise<Sample> => {
  const sentAtMs = performance.now();
  const { statusCode, body } = await pool.request(buildRequest(key));
  await body.dump();
  return { status: statusCode, sentAtMs };
};

/** Sends concurrent calls to all processes in turn. Returns the number of responses per status. */
const countConcurrentStatuses = async (
  startedProcesses: readonly LimitedProcess[],
  key: string,
  count = 400,
) => {
  const calls = Array.from({ length: count }, (_, index) => {
    const limitedProcess = startedProcesses[index % startedProcesses.length];
    if (limitedProcess === undefined) throw new Error("the process is missing");
    return sendRequest(limitedProcess, key);
  });
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

type LoadStream = { key: string; perSecond: number };

/** Sends calls at a steady pace to all processes in turn, regardless of response times. */
const startLoad = (startedProcesses: readonly LimitedProcess[], streams: readonly LoadStream[]) => {
  const samples = new Map<string, Sample[]>(streams.map(({ key }) => [key, []]));
  const pendingCalls = new Set<Promise<void>>();
  const timers = streams.map(({ key, perSecond }) => {
    const startedAtMs = performance.now();
    let sentCount = 0;
    return setInterval(() => {
      const dueCount = ((performance.now() - startedAtMs) / 1000) * perSecond;
      for (; sentCount < dueCount; sentCount += 1) {
        const limitedProcess = startedProcesses[sentCount % startedProcesses.length];
        if (limitedProcess === undefined) continue;
        const pendingCall: Promise<void> = sendRequest(limitedProcess, key)
          .catch((error: unknown): Sample => ({ status: 0, sentAtMs: 0, error: String(error) }))
          .then((sample) => {
            samples.get(key)?.push(sample);
            pendingCalls.delete(pendingCall);
          });
        pendingCalls.add(pendingCall);
      }
    }, 5);
  });
  return {
    getSamples: (key: string, fromMs: number, toMs: number): Sample[] =>
      (samples.get(key) ?? []).filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < toMs),
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(pendingCalls);
    },
  };
};

/** Returns the gauge. It is 1 while a process limits rates without Redis. */
const readDegradedGauge = async ({ internalPort }: LimitedProcess): Promise<number> => {
  const { body } = await request(`http://127.0.0.1:${internalPort}/metrics`);
  const gaugeMatch = /^payment_links_rate_limit_degraded\{[^}]*\} (\d)$/m.exec(await body.text());
  return Number(gaugeMatch?.[1] ?? Number.NaN);
};

const waitUntilShared = (startedProcesses: readonly LimitedProcess[]) =>
  waitUntil("all processes use Redis", async () =>
    (await Promise.all(startedProcesses.map(readDegradedGauge))).every((value) => value === 0),
  );
