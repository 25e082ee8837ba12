import { Counter, Gauge, Histogram } from "prom-client";
import type { Pool } from "@payment-links/postgres";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import { countPending, listWaitingEndpoints } from "../store/deliveries.ts";
import type { OutcomeKind } from "./attempt/attempt-outcome.ts";

/** The dispatcher's metrics. */
export type DeliveryMetrics = {
  countAttempt(outcome: OutcomeKind): void;
  /** Records the delay between an event and its first attempt, which starts now. */
  observeFirstAttemptDelay(occurredAt: Date): void;
  /** Counts an attempt as in progress until it ends. */
  trackInProgress<Out>(attempt: () => Promise<Out>): Promise<Out>;
};

type DeliveryMetricsOptions = { metrics: Metrics; clock: Clock; log: Log; pool: Pool };

const millisPerSecond = 1000;
const pendingCountedMax = 10_000;

/** Registers the dispatcher's metrics. */
export const createDeliveryMetrics = (options: DeliveryMetricsOptions): DeliveryMetrics => {
  const { metrics, clock, pool } = options;
  const registers = [metrics];
  const attempts = new Counter({
    name: "payment_links_webhook_attempts_total",
    help: "Ended webhook attempts, by outcome",
    labelNames: ["outcome"] as const,
    registers,
  });
  const inProgress = new Gauge({
    name: "payment_links_webhook_attempts_under_way",
    help: "Webhook attempts in progress in this process, at most WEBHOOK_CONCURRENCY",
    registers,
  });
  const firstAttemptDelay = new Histogram({
    name: "payment_links_webhook_first_attempt_delay_seconds",
    help: "Time from an event to the first attempt of each of its deliveries",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const oldestDueAge = new Gauge({
    name: "payment_links_webhook_oldest_due_age_seconds",
    help: "Time since the oldest due delivery became due; 0 if none is due",
    registers,
    collect: () =>
      measure(options, async () => {
        const [earliestEndpoint] = await listWaitingEndpoints(pool, { limit: 1 });
        const now = clock.now();
        const ageMs = now.getTime() - (earliestEndpoint?.dueAt ?? now).getTime();
        oldestDueAge.set(Math.max(0, ageMs) / millisPerSecond);
      }),
  });
  const pending: Gauge = new Gauge({
    name: "payment_links_webhook_pending_deliveries",
    help: "Deliveries waiting or in progress, counted up to 10,000",
    registers,
    collect: () =>
      measure(options, async () => {
        pending.set(await countPending(pool, { limit: pendingCountedMax }));
      }),
  });
  return {
    countAttempt: (outcome) => attempts.inc({ outcome }),
    observeFirstAttemptDelay: (occurredAt) => {
      const delayMs = clock.now().getTime() - occurredAt.getTime();
      firstAttemptDelay.observe(Math.max(0, delayMs) / millisPerSecond);
    },
    trackInProgress: async (attempt) => {
      inProgress.inc();
      try {
        return await attempt();
      } finally {
        inProgress.dec();
      }
    },
  };
};

/**
 * Keeps the last value if the database is unavailable. The scrape must still return the other
 * metrics, which matter most during an outage.
 */
const measure = async (
  { log }: DeliveryMetricsOptions,
  work: () => Promise<void>,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error }, "queue could not be measured");
  }
};
