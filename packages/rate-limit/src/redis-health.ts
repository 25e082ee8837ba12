import { Gauge } from "prom-client";
import { type Log, type Metrics, backoffMs } from "@payment-links/runtime";

/** Decides from recent replies whether to use Redis. */
export type RedisHealth = {
  isHealthy(): boolean;
  recordFailure(error: unknown): void;
  /** Records that a probe got its reply in time. */
  recordProbeSuccess(): void;
  recordProbeFailure(error: unknown): void;
  /** Returns the delay before the next probe. */
  getProbeDelayMs(): number;
};

const healthyProbeDelayMs = 1_000;
const probeBackoff = { initialMs: 100, maxMs: 1_000 };
const probesToRecover = 3;

/**
 * Creates a circuit breaker. One failure opens it, and three successful probes in a row close it.
 * At startup, one successful probe is enough. Logs each change once and sets a gauge. While Redis
 * is unavailable, the interval between probes grows to one second.
 */
export const createRedisHealth = (metrics: Metrics, log: Log): RedisHealth => {
  let state: "starting" | "good" | "bad" = "starting";
  let successfulProbes = 0;
  let consecutiveFailures = 1;
  const degradedGauge = new Gauge({
    name: "payment_links_rate_limit_degraded",
    help: "1 while this process counts rate limits by itself because Redis is unavailable or slow.",
    registers: [metrics],
  });
  degradedGauge.set(1);

  const recordFailure = (error: unknown) => {
    successfulProbes = 0;
    if (state === "bad") return;
    log.warn({ err: error }, "Redis unavailable or slow, counting rate limits in this process");
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
      log.info("rate limiting uses Redis");
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
