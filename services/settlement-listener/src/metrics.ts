import { Counter, Gauge } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { type Backlog, waitingCountMax } from "./store/open-payments.ts";

/** What became of a notice; the first four are answered 202, the others are refused. */
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
 * What the service counts of its own work. Providers are those configured, so labels are bounded.
 */
export type Counters = {
  noticed(provider: string, outcome: NoticeOutcome): void;
  /** A sighting that contradicts what is kept, whether it moved the payment or not. */
  contradicted(provider: string): void;
  measured(backlog: Backlog, now: Date): void;
};

/** Adds the service's own counters to its metrics. */
export const createCounters = (metrics: Metrics): Counters => {
  const registers = [metrics];
  const notices = new Counter({
    name: "payment_links_settlement_notices_total",
    help: "Notices of payment providers, by provider and by what became of them",
    labelNames: ["provider", "outcome"] as const,
    registers,
  });
  const conflicts = new Counter({
    name: "payment_links_settlement_conflicts_total",
    help: "Notices that contradict what an earlier one said of the same payment",
    labelNames: ["provider"] as const,
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const parked = gauge(
    "payment_links_settlement_parked_payments",
    `Payments stored for a link that has not been heard of, counted up to ${waitingCountMax}`,
  );
  const parkedAge = gauge(
    "payment_links_settlement_oldest_parked_age_seconds",
    "How long the oldest parked payment has been waiting for its link; 0 without one",
  );
  const processing = gauge(
    "payment_links_settlement_processing_payments",
    `Payments seen and not yet final, counted up to ${waitingCountMax}`,
  );
  const processingAge = gauge(
    "payment_links_settlement_oldest_processing_age_seconds",
    "How long the oldest payment has been waiting for its final notice; 0 without one",
  );
  return {
    noticed: (provider, outcome) => notices.inc({ provider, outcome }),
    contradicted: (provider) => conflicts.inc({ provider }),
    measured: (backlog, now) => {
      parked.set(backlog.parked.count);
      parkedAge.set(ageSeconds(backlog.parked.oldestAt, now));
      processing.set(backlog.processing.count);
      processingAge.set(ageSeconds(backlog.processing.oldestAt, now));
    },
  };
};

const ageSeconds = (since: Date | null, now: Date): number =>
  since === null ? 0 : Math.max(0, (now.getTime() - since.getTime()) / 1000);
