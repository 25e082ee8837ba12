import { Gauge } from "prom-client";
import { readDatabaseTime } from "@payment-links/postgres";
import type { ServiceContext } from "./service-context.ts";

const comparisonIntervalMs = 60_000;

/**
 * Compares this process' clock with Postgres' once a minute, and tells by how much it is ahead. Instants are
 * written by one process and judged by another: where their clocks differ, things are due early or late. The
 * answer is taken for given in the middle of the time that it took, so the difference is right to half of
 * that. While Postgres is away the last one stands.
 */
export const createClockComparisonJob = ({
  clock,
  metrics,
  pool,
}: Pick<ServiceContext, "clock" | "metrics" | "pool">) => {
  const aheadGauge = new Gauge({
    name: "payment_links_clock_ahead_seconds",
    help: "By how much the clock of this process is ahead of Postgres'; below 0 where it is behind.",
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
