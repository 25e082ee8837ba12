import { type Pool, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, startLoop } from "@payment-links/runtime";
import { leaseMsFor } from "../domain/delivery.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import { hasExpiredLeases, lockExpiredLeases } from "../store/deliveries.ts";
import { interruptedOutcome } from "./attempt/attempt-outcome.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { recordEndedAttempts } from "./record-ended-attempts.ts";

type LeaseExpiryOptions = {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: DeliveryMetrics;
  schedule: RetrySchedule;
  random: () => number;
  hasNotifications: boolean;
  timeoutMs: number;
  onExpired: () => void;
};

const pollMs = 1_000;
const expiredBatchMax = 200;

/** Finds attempts whose process died, records them as interrupted, and schedules their retries. */
export const startLeaseExpiry = (options: LeaseExpiryOptions): Loop => {
  const { pool, clock, log, metrics, timeoutMs, onExpired } = options;
  return startLoop({
    name: "webhook leases",
    clock,
    log,
    waitMs: pollMs,
    run: async () => {
      const now = clock.now();
      if (!(await hasExpiredLeases(pool, now))) return;
      const expiredAttempts = await transact(pool, async (tx) => {
        const lockedAttempts = await lockExpiredLeases(tx, { now, limit: expiredBatchMax });
        if (lockedAttempts.length === 0) return lockedAttempts;
        const endedAttempts = lockedAttempts.map((attempt) => ({
          ...attempt,
          startedAt: new Date(attempt.leaseUntil.getTime() - leaseMsFor(timeoutMs)),
          // The real end time is unknown, but it was not later than the expiry of the lease.
          endedAt: attempt.leaseUntil,
          durationMs: null,
          sentBody: null,
          outcome: interruptedOutcome,
        }));
        await recordEndedAttempts(tx, endedAttempts, options);
        return lockedAttempts;
      });
      for (const _ of expiredAttempts) metrics.countAttempt(interruptedOutcome.kind);
      if (expiredAttempts.length > 0) onExpired();
      return expiredAttempts.length === expiredBatchMax;
    },
  });
};
