import type { Clock, Metrics } from "@payment-links/runtime";
import type { ChunkResult } from "./apply-chunk.ts";
import { getOrCreateCounter, getOrCreateGauge, getOrCreateHistogram } from "./metrics.ts";

/** The metrics of one consumer. */
export type ConsumerMetrics = {
  recordCommitted(topic: string, result: ChunkResult): void;
  /**
   * Records that the consumer waits, because the database is unavailable or to retry a failed
   * record.
   */
  recordWait(): void;
  setDeadLetterCount(count: number): void;
  /**
   * Sets the watermark time. If the time is unknown (undefined), the metric keeps its last value,
   * which is initially the start time.
   */
  setReceivedUntil(topic: string, instant: Date | undefined): void;
};

/**
 * The buckets range from the usual 10 ms to an outage of one day. 15 s is the threshold of an SLO.
 */
const lagBuckets = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 3_600, 86_400,
];

/** Creates the metrics of one group's consumer. */
export const createConsumerMetrics = (
  metrics: Metrics,
  { group, clock }: { group: string; clock: Clock },
): ConsumerMetrics => {
  const eventsCounter = getOrCreateCounter(metrics, {
    name: "payment_links_consumer_events_total",
    help: "Records that a group processed: applied, repeated, ignored (unknown type) or parked.",
    labelNames: ["group", "topic", "outcome"],
  });
  const deadLettersCounter = getOrCreateCounter(metrics, {
    name: "payment_links_dead_letters_total",
    help: "Records dead-lettered because they or an earlier record of their key failed.",
    labelNames: ["group", "topic"],
  });
  const deadLettersGauge = getOrCreateGauge(metrics, {
    name: "payment_links_dead_letters_parked",
    help: "Dead letters waiting for an operator.",
    labelNames: ["group"],
  });
  const lagHistogram = getOrCreateHistogram(metrics, {
    name: "payment_links_consumer_lag_seconds",
    help: "Time from the occurrence of an event to its application.",
    labelNames: ["group", "topic"],
    buckets: lagBuckets,
  });
  const progressGauge = getOrCreateGauge(metrics, {
    name: "payment_links_consumer_last_progress_timestamp_seconds",
    help: "When a group last processed records of a topic.",
    labelNames: ["group", "topic"],
  });
  const waitsCounter = getOrCreateCounter(metrics, {
    name: "payment_links_consumer_waits_total",
    help: "Waits before a retry, after a record failed or the database was unavailable.",
    labelNames: ["group"],
  });
  const receivedUntilGauge = getOrCreateGauge(metrics, {
    name: "payment_links_consumer_heard_until_timestamp_seconds",
    help: "Commit time up to which a group has received all events of a topic, from its watermarks.",
    labelNames: ["group", "topic"],
  });
  const startedAt = clock.now();
  const receivedUntilByTopic = new Map<string, Date>();
  return {
    recordCommitted: (topic, result) => {
      const nowMs = clock.now().getTime();
      for (const { envelope } of result.appliedEvents) {
        const lagMs = Math.max(0, nowMs - envelope.occurredAt.getTime());
        lagHistogram.observe({ group, topic }, lagMs / 1_000);
      }
      const incrementOutcome = (outcomeName: string, amount: number) => {
        if (amount > 0) eventsCounter.inc({ group, topic, outcome: outcomeName }, amount);
      };
      incrementOutcome("applied", result.appliedEvents.length);
      incrementOutcome("repeated", result.duplicateCount);
      incrementOutcome("ignored", result.ignoredCount);
      incrementOutcome("parked", result.deadLetterCount);
      if (result.deadLetterCount > 0)
        deadLettersCounter.inc({ group, topic }, result.deadLetterCount);
      progressGauge.set({ group, topic }, nowMs / 1_000);
    },
    recordWait: () => waitsCounter.inc({ group }),
    setDeadLetterCount: (count) => deadLettersGauge.set({ group }, count),
    setReceivedUntil: (topic, instant) => {
      const receivedUntil = instant ?? receivedUntilByTopic.get(topic) ?? startedAt;
      receivedUntilByTopic.set(topic, receivedUntil);
      receivedUntilGauge.set({ group, topic }, receivedUntil.getTime() / 1_000);
    },
  };
};
