import { Gauge } from "prom-client";
import { type Log, type Metrics, backoffMs } from "@payment-links/runtime";

/** Whether to ask Redis, by how it answered. */
export type RedisHealth = {
  isGood(): boolean;
  /** A request or the connection failed. */
  fail(error: unknown): void;
  /** A probe was answered in time. */
  passProbe(): void;
  /** A probe failed. */
  failProbe(error: unknown): void;
  /** How long to wait before the next probe. */
  probeWaitMs(): number;
};

const goodWaitMs = 1_000;
const badBackoff = { firstMs: 100, mostMs: 1_000 };
const goodProbesToReturn = 3;

/**
 * A circuit: one failure opens it, and three good probes in a row close it (one is enough at the
 * start). Each change is logged once and shown by a gauge. While Redis is away, probes become
 * rarer, down to one a second.
 */
export const createRedisHealth = (metrics: Metrics, log: Log): RedisHealth => {
  let state: "starting" | "good" | "bad" = "starting";
  let goodProbes = 0;
  let failuresInRow = 1;
  const degraded = new Gauge({
    name: "payment_links_rate_limit_degraded",
    help: "1 while rate limits are counted by this process alone, as Redis is away or slow.",
    registers: [metrics],
  });
  degraded.set(1);

  const fail = (error: unknown) => {
    goodProbes = 0;
    if (state === "bad") return;
    log.warn({ err: error }, "Redis is away or slow: rate limits are counted by this process");
    state = "bad";
    failuresInRow = 1;
    degraded.set(1);
  };

  return {
    isGood: () => state === "good",
    fail,
    passProbe: () => {
      goodProbes += 1;
      failuresInRow = 1;
      if (state === "good" || (state === "bad" && goodProbes < goodProbesToReturn)) return;
      log.info("rate limits are counted in Redis");
      state = "good";
      degraded.set(0);
    },
    failProbe: (error) => {
      const isRepeated = state === "bad";
      fail(error);
      if (isRepeated) failuresInRow += 1;
    },
    probeWaitMs: () => (state === "good" ? goodWaitMs : backoffMs(failuresInRow, badBackoff)),
  };
};
