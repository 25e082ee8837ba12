import { createHmac, randomUUID } from "node:crypto";
import {
  type Clock,
  type Metrics,
  openLog,
  openMetrics,
  systemClock,
} from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import type { Bucket, Limiter } from "../limiter.ts";
import { createRedisLimiter } from "../redis-limiter.ts";
import { type TcpProxy, openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { claimRedisDatabase } from "./claim-redis-database.ts";

/** A limiter as one process has it, with what it tells. */
export type Opened = {
  limiter: Limiter;
  metrics: Metrics;
  lines: { level: string; msg: string }[];
};

/** So slow that nothing is refilled while a test runs. */
export const still = { tokensPerSecond: 0.001, burst: 100 };

/** A bucket that no other test has. */
export const newBucket = (limit = still, policy = "key"): Bucket => ({
  policy,
  id: randomUUID(),
  limit,
});

/** So short that a test can wait for it, and much longer than a busy machine's Redis takes. */
export const impatient = { answerTimeoutMs: provokedTimeoutMs(1_000) };
/** The default, at which a busy machine's Redis counts as slow, too. */
export const asInProduction = { answerTimeoutMs: undefined };

const testSecret = "shared by all processes of a test";

/** Under which name Redis keeps a bucket of these limiters. */
export const redisNameOf = ({ policy, id }: Bucket): string => {
  const sealed = createHmac("sha256", testSecret).update(id).digest("base64url").slice(0, 22);
  return `{payment-links:rate-limit:v2}:${policy}:${sealed}`;
};

type Patience = { answerTimeoutMs?: number | undefined; secret?: string; clock?: Clock };

/** Of this test file alone. */
export const redisUrl = await claimRedisDatabase();

/** Opens limiters over the tests' Redis, behind a proxy if it must fail, and closes them all. */
export const createLimiterRig = () => {
  const opened: Opened[] = [];
  const proxies: TcpProxy[] = [];
  const openProxy = async (): Promise<TcpProxy> => {
    const proxy = await openTcpProxy(new URL(redisUrl));
    proxies.push(proxy);
    return proxy;
  };
  const open = (url = redisUrl, replicas = 1, patience: Patience = {}): Opened => {
    const lines: Opened["lines"] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    const log = openLog({ service: "test", level: "info" }, { write });
    const metrics = openMetrics("test");
    const { answerTimeoutMs, ...more } = { answerTimeoutMs: ampleTimeoutMs, ...patience };
    const limiter = createRedisLimiter({
      url,
      secret: testSecret,
      clock: systemClock,
      replicas,
      metrics,
      log,
      ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
      ...more,
    });
    opened.push({ limiter, metrics, lines });
    return { limiter, metrics, lines };
  };
  const openReady = async (
    url = redisUrl,
    replicas = 1,
    patience: Patience = {},
  ): Promise<Opened> => {
    const one = open(url, replicas, patience);
    await degradedIs(one.metrics, 0);
    return one;
  };
  return {
    openProxy,
    open,
    openReady,
    openProxied: async (
      replicas = 1,
      patience: Patience = {},
    ): Promise<Opened & { proxy: TcpProxy }> => {
      const proxy = await openProxy();
      const url = new URL(redisUrl);
      url.port = String(proxy.port);
      return { proxy, ...(await openReady(url.href, replicas, patience)) };
    },
    close: async () => {
      await Promise.all(opened.splice(0).map(({ limiter }) => limiter.close()));
      await Promise.all(proxies.splice(0).map((proxy) => proxy.kill()));
    },
  };
};

/** The gauge: 1 while the process counts alone. */
export const degraded = async (metrics: Metrics): Promise<number> => {
  const gauge = await metrics.getSingleMetric("payment_links_rate_limit_degraded")?.get();
  return gauge?.values[0]?.value ?? -1;
};

export const degradedIs = (metrics: Metrics, value: number): Promise<boolean> =>
  waitUntil(`degraded is ${value}`, async () => (await degraded(metrics)) === value);

/** The scripts that were asked to run, as they went over the wire. */
export const commands = (proxy: TcpProxy): string[] =>
  proxy
    .sent()
    .split(/(?=\*\d+\r\n\$(?:7\r\nevalsha|4\r\neval)\r\n)/i)
    .filter((text) => /eval/i.test(text));
