import type { RepublishSource } from "@payment-links/bus";
import { listPublishedPayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/**
 * Republishes every payment in the order in which it was stored, with its current version.
 * Consumers that know that version ignore it (rule EVENT-5). Deferred payments were never published
 * and stay unpublished.
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
