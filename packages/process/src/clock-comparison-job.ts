import { Gauge } from "prom-client";
import { readDatabaseTime } from "@payment-links/postgres";
import type { ServiceContext } from "./service-context.ts";

const comparisonIntervalMs = 60_000;

/**
 * Creates a job that compares this process's clock with the Postgres clock once a minute and
 * reports the difference as a metric. Processes read timestamps that other processes wrote, so a
 * clock difference makes work due too early or too late. The job assumes that Postgres read its
 * clock halfway through the request, so the error is at most half of the request's duration. While
 * Postgres is unavailable, the metric keeps its last value.
 */
export const createClockComparisonJob = ({
  clock,
  metrics,
  pool,
}: Pick<ServiceContext, "clock" | "metrics" | "pool">) => {
  const aheadGauge = new Gauge({
    name: "payment_links_clock_ahead_seconds",
    help: "How far this process's clock is ahead of the Postgres clock; negative if it is behind.",
    registers: [metrics],
  });
  return {
    name: "comparing clocks",
    waitMs: comparisonIntervalMs,
    run: async () => {
      const requestedAtMs = clock.now().getTime();
      const startedAtMs = clock.elapsedMs();
      const postgresTime = await readDatabaseTime(pool);
      const durationMs = clock.elapsedMs() - startedAtMs;
      aheadGauge.set((requestedAtMs + durationMs / 2 - postgresTime.getTime()) / 1_000);
    },
  };
};
