import type { RepublishSource } from "@payment-links/bus";
import { listPublishedPayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/**
 * Republishes every payment with its current version, in the order in which payments were stored.
 * Consumers that already have that version ignore the event (rule EVENT-5). Deferred payments are
 * skipped, because they have not been published yet.
 */
export const paymentRepublishSource: RepublishSource = {
  resource: "settlements",
  table: "payments",
  column: "seq",
  readEvents: async (tx, seqs, now) => {
    const payments = await listPublishedPayments(tx, seqs);
    return payments.map((payment) => createSettlementEvent(payment, now));
  },
};
