import { Counter } from "prom-client";
import type { LinkStatus } from "@payment-links/contracts";
import type { Metrics } from "@payment-links/runtime";
import type { UnappliedReason } from "./domain/payment.ts";

/** The counters of this service. */
export type Counters = {
  countCreatedLink(): void;
  countStatusChange(from: LinkStatus, to: LinkStatus): void;
  countExpiredLinks(count: number): void;
  /**
   * Counts a settled payment after its evaluation. `reason` is undefined if the payment was
   * applied.
   */
  countEvaluatedPayment(reason: UnappliedReason | undefined): void;
  /** Counts a settled payment that was orphaned. */
  countOrphanedPayment(): void;
  /** Counts failures to read a link that a client is subscribed to, or to check it for changes. */
  countFailedRead(): void;
  /**
   * Counts a version that increased by more than one, which means that events of this topic were
   * missed.
   */
  countVersionJump(topic: string): void;
};

/**
 * Creates the counters. They are meant for monitoring and not for accounting, because a transaction
 * that is retried can increment them again.
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
    help: "Settled payments that were later orphaned by a reorg. They keep their credit.",
    registers,
  });
  const failedReads = new Counter({
    name: "payment_links_failed_looks_total",
    help: "Failed attempts to check followed links for changes. Each check is retried.",
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
