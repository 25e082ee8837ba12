import type { Clock, Metrics } from "@payment-links/runtime";
import type { ChunkOutcome } from "./apply-chunk.ts";
import { counter, gauge, histogram } from "./metrics.ts";

/** What a consumer tells of itself. */
export type ConsumerMetrics = {
  committed(topic: string, outcome: ChunkOutcome): void;
  /** The database was away, or a failed record is tried again. */
  waited(): void;
  parked(count: number): void;
  /** Undefined: it is not known; then the last that was known, or its start, stands. */
  heardUntil(topic: string, instant: Date | undefined): void;
};

/**
 * From the usual hundredth of a second to the day of an outage. 15 is the bound of an objective.
 */
const lagBuckets = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 3_600, 86_400,
];

/** Opens the metrics of one group's consumer. */
export const createConsumerMetrics = (
  metrics: Metrics,
  { group, clock }: { group: string; clock: Clock },
): ConsumerMetrics => {
  const eventsTotal = counter(metrics, {
    name: "payment_links_consumer_events_total",
    help: "Records a group is done with: applied, repeated, ignored (unknown type) or parked.",
    labelNames: ["group", "topic", "outcome"],
  });
  const deadLettersTotal = counter(metrics, {
    name: "payment_links_dead_letters_total",
    help: "Records set aside: they, or one of the same key before, could not be applied.",
    labelNames: ["group", "topic"],
  });
  const parkedRows = gauge(metrics, {
    name: "payment_links_dead_letters_parked",
    help: "Records that are set aside now and wait for an operator.",
    labelNames: ["group"],
  });
  const lag = histogram(metrics, {
    name: "payment_links_consumer_lag_seconds",
    help: "Time from an event's happening to its application.",
    labelNames: ["group", "topic"],
    buckets: lagBuckets,
  });
  const progress = gauge(metrics, {
    name: "payment_links_consumer_last_progress_timestamp_seconds",
    help: "When a group was last done with records of a topic.",
    labelNames: ["group", "topic"],
  });
  const waitsTotal = counter(metrics, {
    name: "payment_links_consumer_waits_total",
    help: "Waits because the database was away or a record failed and is tried again.",
    labelNames: ["group"],
  });
  const heard = gauge(metrics, {
    name: "payment_links_consumer_heard_until_timestamp_seconds",
    help: "Up to when a group has heard all that a topic's sender had committed, by its marks.",
    labelNames: ["group", "topic"],
  });
  const startedAt = clock.now();
  const heardUntil = new Map<string, Date>();
  return {
    committed: (topic, outcome) => {
      const nowMs = clock.now().getTime();
      for (const { envelope } of outcome.applied) {
        const lagMs = Math.max(0, nowMs - envelope.occurredAt.getTime());
        lag.observe({ group, topic }, lagMs / 1_000);
      }
      const count = (outcomeName: string, by: number) => {
        if (by > 0) eventsTotal.inc({ group, topic, outcome: outcomeName }, by);
      };
      count("applied", outcome.applied.length);
      count("repeated", outcome.repeatedCount);
      count("ignored", outcome.ignoredCount);
      count("parked", outcome.parkedCount);
      if (outcome.parkedCount > 0) deadLettersTotal.inc({ group, topic }, outcome.parkedCount);
      progress.set({ group, topic }, nowMs / 1_000);
    },
    waited: () => waitsTotal.inc({ group }),
    parked: (count) => parkedRows.set({ group }, count),
    heardUntil: (topic, instant) => {
      const known = instant ?? heardUntil.get(topic) ?? startedAt;
      heardUntil.set(topic, known);
      heard.set({ group, topic }, known.getTime() / 1_000);
    },
  };
};
