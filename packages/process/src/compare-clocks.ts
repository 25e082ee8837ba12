import { Gauge } from "prom-client";
import { readClock } from "@payment-links/postgres";
import type { Ground } from "./ground.ts";

const everyMs = 60_000;

/**
 * Compares this process' clock with Postgres' once a minute, and tells by how much it is ahead. Instants are
 * written by one process and judged by another: where their clocks differ, things are due early or late. The
 * answer is taken for given in the middle of the time that it took, so the difference is right to half of
 * that. While Postgres is away the last one stands.
 */
export const compareClocks = ({
  clock,
  metrics,
  pool,
}: Pick<Ground, "clock" | "metrics" | "pool">) => {
  const ahead = new Gauge({
    name: "payment_links_clock_ahead_seconds",
    help: "By how much the clock of this process is ahead of Postgres'; below 0 where it is behind.",
    registers: [metrics],
  });
  return {
    name: "comparing clocks",
    waitMs: everyMs,
    run: async () => {
      const askedAtMs = clock.now().getTime();
      const startedAtMs = clock.elapsedMs();
      const told = await readClock(pool);
      const tookMs = clock.elapsedMs() - startedAtMs;
      ahead.set((askedAtMs + tookMs / 2 - told.getTime()) / 1_000);
    },
  };
};
