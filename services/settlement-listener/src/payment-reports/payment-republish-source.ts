import type { RepublishSource } from "@payment-links/bus";
import { listPublishedPayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/**
 * Every payment again, in the order in which they came, with the version it has: whoever knows that
 * ignores it (rule EVENT-5). Nobody has been told of a parked payment, and nobody is now.
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
