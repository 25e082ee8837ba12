import type { Clock, Metrics } from "@payment-links/runtime";
import { counter, gauge } from "./metrics.ts";

/** What the relay tells of itself. The age grows between two looks. */
export type RelayMetrics = {
  /** A claim was read: the oldest rows, and whether they are all of them. */
  found(rows: readonly { occurredAt: Date }[], areAll: boolean): void;
  /** It tried for the lead, and saw when the oldest event occurred; where none waits, all is told. */
  looked(oldestAt: Date | undefined): void;
  measured(unsentCount: number, oldestAt: Date | undefined): void;
  sent(count: number): void;
  failed(): void;
  stopped(): void;
};

/** Opens the relay's metrics. */
export const createRelayMetrics = (metrics: Metrics, clock: Clock): RelayMetrics => {
  let oldestAt: Date | undefined;
  const unsent = gauge(metrics, {
    name: "payment_links_outbox_unsent_rows",
    help: "Events that wait in the outbox; counted up to 10 000.",
  });
  gauge(metrics, {
    name: "payment_links_outbox_oldest_unsent_age_seconds",
    help: "How long the oldest event has waited in the outbox; 0 where none waits.",
    collect() {
      const ageMs = oldestAt === undefined ? 0 : clock.now().getTime() - oldestAt.getTime();
      this.set(Math.max(0, ageMs / 1_000));
    },
  });
  const sentTotal = counter(metrics, {
    name: "payment_links_outbox_sent_total",
    help: "Events sent and acknowledged.",
  });
  const failuresTotal = counter(metrics, {
    name: "payment_links_outbox_failures_total",
    help: "Turns of the relay that failed, at the bus or at Postgres.",
  });
  return {
    found: (rows, areAll) => {
      oldestAt = rows[0]?.occurredAt;
      if (areAll) unsent.set(rows.length);
    },
    looked: (oldest) => {
      oldestAt = oldest;
      if (oldest === undefined) unsent.set(0);
    },
    measured: (unsentCount, oldest) => {
      oldestAt = oldest;
      unsent.set(unsentCount);
    },
    sent: (count) => sentTotal.inc(count),
    failed: () => failuresTotal.inc(),
    stopped: () => {
      oldestAt = undefined;
      unsent.set(0);
    },
  };
};
