import type { Clock, Metrics } from "@payment-links/runtime";
import { getOrCreateCounter, getOrCreateGauge } from "./metrics.ts";

/** The metrics of the relay. The reported age keeps growing between two measurements. */
export type RelayMetrics = {
  /**
   * Records a batch: its rows are the oldest ones, and `isComplete` states that there are no
   * others.
   */
  recordUnsentRows(rows: readonly { occurredAt: Date }[], isComplete: boolean): void;
  /**
   * Records the time of the oldest event, as read while acquiring leadership. Undefined means that
   * the outbox is empty.
   */
  recordOldestEvent(oldestAt: Date | undefined): void;
  recordMeasurement(unsentCount: number, oldestAt: Date | undefined): void;
  recordSent(count: number): void;
  recordFailure(): void;
  reset(): void;
};

/** Creates the relay's metrics. */
export const createRelayMetrics = (metrics: Metrics, clock: Clock): RelayMetrics => {
  let oldestAt: Date | undefined;
  const unsentGauge = getOrCreateGauge(metrics, {
    name: "payment_links_outbox_unsent_rows",
    help: "Unsent events in the outbox, counted up to 10,000.",
  });
  getOrCreateGauge(metrics, {
    name: "payment_links_outbox_oldest_unsent_age_seconds",
    help: "Age of the oldest unsent event in the outbox; 0 if there is none.",
    collect() {
      const ageMs = oldestAt === undefined ? 0 : clock.now().getTime() - oldestAt.getTime();
      this.set(Math.max(0, ageMs / 1_000));
    },
  });
  const sentCounter = getOrCreateCounter(metrics, {
    name: "payment_links_outbox_sent_total",
    help: "Events sent and acknowledged.",
  });
  const failuresCounter = getOrCreateCounter(metrics, {
    name: "payment_links_outbox_failures_total",
    help: "Relay iterations that failed because of the bus or Postgres.",
  });
  return {
    recordUnsentRows: (rows, isComplete) => {
      oldestAt = rows[0]?.occurredAt;
      if (isComplete) unsentGauge.set(rows.length);
    },
    recordOldestEvent: (newOldestAt) => {
      oldestAt = newOldestAt;
      if (newOldestAt === undefined) unsentGauge.set(0);
    },
    recordMeasurement: (unsentCount, newOldestAt) => {
      oldestAt = newOldestAt;
      unsentGauge.set(unsentCount);
    },
    recordSent: (count) => sentCounter.inc(count),
    recordFailure: () => failuresCounter.inc(),
    reset: () => {
      oldestAt = undefined;
      unsentGauge.set(0);
    },
  };
};
