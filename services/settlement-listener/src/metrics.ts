import { Counter, Gauge } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { type Backlog, backlogCountMax } from "./store/open-payments.ts";

/** The result of a notice. The first four are answered with 202, and the others are rejected. */
export type NoticeOutcome =
  | "published"
  | "parked"
  | "repeated"
  | "conflicting"
  | "unknown_provider"
  | "unsigned"
  | "stale"
  | "wrong_signature"
  | "invalid"
  | "too_fine";

/**
 * The service's own metrics. The `provider` label has only the names of configured providers, so
 * its cardinality is limited.
 */
export type Counters = {
  countNotice(provider: string, outcome: NoticeOutcome): void;
  /** Counts a report that contradicts the stored payment, whether or not it changed the payment. */
  countConflict(provider: string): void;
  setBacklog(backlog: Backlog, now: Date): void;
};

/** Registers the service's own metrics. */
export const createCounters = (metrics: Metrics): Counters => {
  const registers = [metrics];
  const notices = new Counter({
    name: "payment_links_settlement_notices_total",
    help: "Notices of payment providers, by provider and outcome",
    labelNames: ["provider", "outcome"] as const,
    registers,
  });
  const conflicts = new Counter({
    name: "payment_links_settlement_conflicts_total",
    help: "Notices that contradict an earlier notice of the same payment",
    labelNames: ["provider"] as const,
    registers,
  });
  const createGauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const deferredGauge = createGauge(
    "payment_links_settlement_parked_payments",
    `Payments stored for a link that has not been received yet, counted up to ${backlogCountMax}`,
  );
  const deferredAgeGauge = createGauge(
    "payment_links_settlement_oldest_parked_age_seconds",
    "How long the oldest deferred payment has waited for its link; 0 if there is none",
  );
  const processingGauge = createGauge(
    "payment_links_settlement_processing_payments",
    `Processing payments, counted up to ${backlogCountMax}`,
  );
  const processingAgeGauge = createGauge(
    "payment_links_settlement_oldest_processing_age_seconds",
    "How long the oldest processing payment has waited for its final status; 0 if there is none",
  );
  return {
    countNotice: (provider, outcome) => notices.inc({ provider, outcome }),
    countConflict: (provider) => conflicts.inc({ provider }),
    setBacklog: (backlog, now) => {
      deferredGauge.set(backlog.deferred.count);
      deferredAgeGauge.set(getAgeSeconds(backlog.deferred.oldestAt, now));
      processingGauge.set(backlog.processing.count);
      processingAgeGauge.set(getAgeSeconds(backlog.processing.oldestAt, now));
    },
  };
};

const getAgeSeconds = (since: Date | null, now: Date): number =>
  since === null ? 0 : Math.max(0, (now.getTime() - since.getTime()) / 1000);
