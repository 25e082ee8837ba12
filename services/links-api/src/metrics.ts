import { Counter } from "prom-client";
import type { LinkStatus } from "@payment-links/contracts";
import type { Metrics } from "@payment-links/runtime";
import type { UnappliedReason } from "./domain/payment.ts";

/** What this service counts of its own work. */
export type Counters = {
  created(): void;
  changed(from: LinkStatus, to: LinkStatus): void;
  expired(count: number): void;
  /** A settled payment was judged. Without a reason it counts. */
  judged(reason: UnappliedReason | undefined): void;
  /** A payment that had settled was taken away by its chain. */
  orphaned(): void;
  /** It was not found out whether a followed link has changed, or how it stands. */
  lookFailed(): void;
  /** A thing's version grew by more than one: events of that topic were missed. */
  skipped(topic: string): void;
};

/**
 * Makes the counters. A transaction that runs again counts again: they are for watching, not for
 * bookkeeping.
 */
export const createCounters = (metrics: Metrics): Counters => {
  const registers = [metrics];
  const created = new Counter({
    name: "payment_links_created_total",
    help: "Payment links created",
    registers,
  });
  const transitions = new Counter({
    name: "payment_links_transitions_total",
    help: "Changes of a payment link's status",
    labelNames: ["from", "to"] as const,
    registers,
  });
  const payments = new Counter({
    name: "payment_links_payments_total",
    help: "Settled payments by outcome: applied, or the reason why not",
    labelNames: ["outcome"] as const,
    registers,
  });
  const orphaned = new Counter({
    name: "payment_links_payments_orphaned_total",
    help: "Settled payments that their chain took away afterwards; their credit stays",
    registers,
  });
  const failedLooks = new Counter({
    name: "payment_links_failed_looks_total",
    help: "Times that followed links could not be looked at; they are looked at again",
    registers,
  });
  const skipped = new Counter({
    name: "payment_links_version_jumps_total",
    help: "Events whose version was more than one above the last known",
    labelNames: ["topic"] as const,
    registers,
  });
  return {
    created: () => created.inc(),
    changed: (from, to) => {
      if (from !== to) transitions.inc({ from, to });
    },
    expired: (count) => transitions.inc({ from: "active", to: "inactive" }, count),
    judged: (reason) => payments.inc({ outcome: reason ?? "applied" }),
    orphaned: () => orphaned.inc(),
    lookFailed: () => failedLooks.inc(),
    skipped: (topic) => skipped.inc({ topic }),
  };
};
