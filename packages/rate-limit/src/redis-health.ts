import { Gauge } from "prom-client";
import { type Log, type Metrics, backoffMs } from "@payment-links/runtime";

/** Whether to ask Redis, by how it answered. */
export type RedisHealth = {
  isHealthy(): boolean;
  /** A request or the connection failed. */
  recordFailure(error: unknown): void;
  /** A probe was answered in time. */
  recordProbeSuccess(): void;
  /** A probe failed. */
  recordProbeFailure(error: unknown): void;
  /** How long to wait before the next probe. */
  getProbeDelayMs(): number;
};

const healthyProbeDelayMs = 1_000;
const probeBackoff = { initialMs: 100, maxMs: 1_000 };
const probesToRecover = 3;

/**
 * A circuit: one failure opens it, and three good probes in a row close it (one is enough at the
 * start). Each change is logged once and shown by a gauge. While Redis is away, probes become
 * rarer, down to one a second.
 */
export const createRedisHealth = (metrics: Metrics, log: Log): RedisHealth => {
  let state: "starting" | "good" | "bad" = "starting";
  let successfulProbes = 0;
  let consecutiveFailures = 1;
  const degradedGauge = new Gauge({
    name: "payment_links_rate_limit_degraded",
    help: "1 while rate limits are counted by this process alone, as Redis is away or slow.",
    registers: [metrics],
  });
  degradedGauge.set(1);

  const recordFailure = (error: unknown) => {
    successfulProbes = 0;
    if (state === "bad") return;
    log.warn({ err: error }, "Redis is away or slow: rate limits are counted by this process");
    state = "bad";
    consecutiveFailures = 1;
    degradedGauge.set(1);
  };

  return {
    isHealthy: () => state === "good",
    recordFailure,
    recordProbeSuccess: () => {
      successfulProbes += 1;
      consecutiveFailures = 1;
      if (state === "good" || (state === "bad" && successfulProbes < probesToRecover)) return;
      log.info("rate limits are counted in Redis");
      state = "good";
      degradedGauge.set(0);
    },
    recordProbeFailure: (error) => {
      const wasUnhealthy = state === "bad";
      recordFailure(error);
      if (wasUnhealthy) consecutiveFailures += 1;
    },
    getProbeDelayMs: () =>
      state === "good" ? healthyProbeDelayMs : backoffMs(consecutiveFailures, probeBackoff),
  };
};
