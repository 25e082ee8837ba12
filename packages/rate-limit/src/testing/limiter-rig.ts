import { createHmac, randomUUID } from "node:crypto";
import {
  type Clock,
  type Metrics,
  createLog,
  createMetrics,
  systemClock,
} from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import type { Bucket, Limiter } from "../limiter.ts";
import { createRedisLimiter } from "../redis-limiter.ts";
import { type TcpProxy, startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { claimRedisDatabase } from "./claim-redis-database.ts";

/** The limiter of one simulated process, with its metrics and log. */
export type StartedLimiter = {
  limiter: Limiter;
  metrics: Metrics;
  logLines: { level: string; msg: string }[];
};

/** This rate is so low that the bucket does not refill during a test. */
export const slowLimit = { tokensPerSecond: 0.001, burst: 100 };

/** Returns a bucket that no other test uses. */
export const createBucket = (limit = slowLimit, policy = "key"): Bucket => ({
  policy,
  id: randomUUID(),
  limit,
});

/** Short enough for a test to wait for, and much longer than Redis needs on a busy machine. */
export const shortReplyTimeout = { replyTimeoutMs: provokedTimeoutMs(1_000) };
/** The default timeout. On a busy machine, Redis can exceed it. */
export const productionReplyTimeout = { replyTimeoutMs: undefined };

const testSecret = "shared by all processes of a test";

/** Returns the Redis key of a bucket of these limiters. */
export const toRedisKey = ({ policy, id }: Bucket): string => {
  const idHmac = createHmac("sha256", testSecret).update(id).digest("base64url").slice(0, 22);
  return `{payment-links:rate-limit:v2}:${policy}:${idHmac}`;
};

type LimiterOverrides = { replyTimeoutMs?: number | undefined; secret?: string; clock?: Clock };

/** A Redis database that only this test file uses. */
export const redisUrl = await claimRedisDatabase();

/**
 * Creates a rig that starts limiters on the tests' Redis, optionally behind a proxy that can fail.
 * Its `close` closes all of them.
 */
export const createLimiterRig = () => {
  const startedLimiters: StartedLimiter[] = [];
  const proxies: TcpProxy[] = [];
  const startProxy = async (): Promise<TcpProxy> => {
    const proxy = await startTcpProxy(new URL(redisUrl));
    proxies.push(proxy);
    return proxy;
  };
  const startLimiter = (
    url = redisUrl,
    replicas = 1,
    overrides: LimiterOverrides = {},
  ): StartedLimiter => {
    const logLines: StartedLimiter["logLines"] = [];
    const write = (line: string) => void logLines.push(JSON.parse(line));
    const log = createLog({ service: "test", level: "info" }, { write });
    const metrics = createMetrics("test");
    const { replyTimeoutMs, ...otherOverrides } = { replyTimeoutMs: ampleTimeoutMs, ...overrides };
    const limiter = createRedisLimiter({
      url,
      secret: testSecret,
      clock: systemClock,
      replicas,
      metrics,
      log,
      ...(replyTimeoutMs === undefined ? {} : { replyTimeoutMs }),
      ...otherOverrides,
    });
    startedLimiters.push({ limiter, metrics, logLines });
    return { limiter, metrics, logLines };
  };
  const startConnectedLimiter = async (
    url = redisUrl,
    replicas = 1,
    overrides: LimiterOverrides = {},
  ): Promise<StartedLimiter> => {
    const started = startLimiter(url, replicas, overrides);
    await waitForDegraded(started.metrics, 0);
    return started;
  };
  return {
    startProxy,
    startLimiter,
    startConnectedLimiter,
    startProxiedLimiter: async (
      replicas = 1,
      overrides: LimiterOverrides = {},
    ): Promise<StartedLimiter & { proxy: TcpProxy }> => {
      const proxy = await startProxy();
      const url = new URL(redisUrl);
      url.port = String(proxy.port);
      return { proxy, ...(await startConnectedLimiter(url.href, replicas, overrides)) };
    },
    close: async () => {
      await Promise.all(startedLimiters.splice(0).map(({ limiter }) => limiter.close()));
      await Promise.all(proxies.splice(0).map((proxy) => proxy.kill()));
    },
  };
};

/** Reads the gauge: 1 while the process decides without Redis. */
export const readDegradedGauge = async (metrics: Metrics): Promise<number> => {
  const gauge = await metrics.getSingleMetric("payment_links_rate_limit_degraded")?.get();
  return gauge?.values[0]?.value ?? -1;
};

export const waitForDegraded = (metrics: Metrics, value: number): Promise<boolean> =>
  waitUntil(`degraded is ${value}`, async () => (await readDegradedGauge(metrics)) === value);

/** Returns the script commands (EVAL or EVALSHA) that were sent to Redis. */
export const listEvalCommands = (proxy: TcpProxy): string[] =>
  proxy
    .getSentText()
    .split(/(?=\*\d+\r\n\$(?:7\r\nevalsha|4\r\neval)\r\n)/i)
    .filter((text) => /eval/i.test(text));
