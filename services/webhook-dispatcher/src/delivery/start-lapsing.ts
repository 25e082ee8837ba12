import { type Pool, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, startLoop } from "@payment-links/runtime";
import { leaseMsOf } from "../domain/delivery.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import { hasLapsed, lockLapsed } from "../store/deliveries.ts";
import { interruptedOutcome } from "./attempt/attempt-outcome.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endAttempts } from "./end-attempts.ts";

type LapsingOptions = {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: DeliveryMetrics;
  schedule: RetrySchedule;
  random: () => number;
  timeoutMs: number;
  onLapsed: () => void;
};

const pollMs = 1_000;
const lapsedMax = 200;

/**
 * Finds attempts whose process has gone, calls them interrupted, and lets their deliveries follow
 * the schedule.
 */
export const startLapsing = (options: LapsingOptions): Loop => {
  const { pool, clock, log, metrics, schedule, random, timeoutMs, onLapsed } = options;
  return startLoop({
    name: "webhook leases",
    clock,
    log,
    waitMs: pollMs,
    run: async () => {
      const now = clock.now();
      if (!(await hasLapsed(pool, now))) return;
      const lapsed = await transact(pool, async (tx) => {
        const locked = await lockLapsed(tx, { now, limit: lapsedMax });
        if (locked.length === 0) return locked;
        const ended = locked.map(({ id, leaseUntil, ...rest }) => ({
          ...rest,
          deliveryId: id,
          leaseUntil,
          startedAt: new Date(leaseUntil.getTime() - leaseMsOf(timeoutMs)),
          // Nobody knows when the attempt really ended, but it was not after its lease.
          endedAt: leaseUntil,
          durationMs: null,
          outcome: interruptedOutcome,
        }));
        await endAttempts(tx, ended, { schedule, random });
        return locked;
      });
      for (const _ of lapsed) metrics.countAttempt(interruptedOutcome.kind);
      if (lapsed.length > 0) onLapsed();
      return lapsed.length === lapsedMax;
    },
  });
};
