import { Counter } from "prom-client";
import type { LinkStatus } from "@payment-links/contracts";
import type { Metrics } from "@payment-links/runtime";
import type { UnappliedReason } from "./domain/payment.ts";

/** The counters of this service's own work. */
export type Counters = {
  countCreatedLink(): void;
  countStatusChange(from: LinkStatus, to: LinkStatus): void;
  countExpiredLinks(count: number): void;
  /** A settled payment was evaluated. Without a reason it was applied. */
  countEvaluatedPayment(reason: UnappliedReason | undefined): void;
  /** A settled payment was orphaned by its chain. */
  countOrphanedPayment(): void;
  /** A followed link could not be read or checked for changes. */
  countFailedRead(): void;
  /** A version increased by more than one: events of that topic were missed. */
  countVersionJump(topic: string): void;
};

/**
 * Creates the counters. A retried transaction increments them again, so they serve monitoring, not
 * accounting.
 */
export const createCounters = (metrics: Metrics): Counters => {
  const registers = [metrics];
  const linksCreated = new Counter({
    name: "payment_links_created_total",
    help: "Payment links created",
    registers,
  });
  const transitions = new Counter({
    name: "payment_links_transitions_total",
    help: "Status changes of payment links",
    labelNames: ["from", "to"] as const,
    registers,
  });
  const payments = new Counter({
    name: "payment_links_payments_total",
    help: "Settled payments by outcome: applied, or the reason why a payment was not applied",
    labelNames: ["outcome"] as const,
    registers,
  });
  const orphanedPayments = new Counter({
    name: "payment_links_payments_orphaned_total",
    help: "Settled payments that were later orphaned by a reorg; the credit stays",
    registers,
  });
  const failedReads = new Counter({
    name: "payment_links_failed_looks_total",
    help: "Failed checks of followed links for changes; each is retried",
    registers,
  });
  const versionJumps = new Counter({
    name: "payment_links_version_jumps_total",
    help: "Events whose version was more than one above the last received version",
    labelNames: ["topic"] as const,
    registers,
  });
  return {
    countCreatedLink: () => linksCreated.inc(),
    countStatusChange: (from, to) => {
      if (from !== to) transitions.inc({ from, to });
    },
    countExpiredLinks: (count) => transitions.inc({ from: "active", to: "inactive" }, count),
    countEvaluatedPayment: (reason) => payments.inc({ outcome: reason ?? "applied" }),
    countOrphanedPayment: () => orphanedPayments.inc(),
    countFailedRead: () => failedReads.inc(),
    countVersionJump: (topic) => versionJumps.inc({ topic }),
  };
};
