import type { Republishing } from "@payment-links/bus";
import { listToldPayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

/**
 * Every payment again, in the order in which they came, with the version it has: whoever knows that
 * ignores it (rule EVENT-5). Nobody has been told of a parked payment, and nobody is now.
 */
export const republishPayments: Republishing = {
  what: "settlements",
  table: "payments",
  column: "seq",
  read: async (tx, seqs, now) => {
    const payments = await listToldPayments(tx, seqs);
    return payments.map((payment) => settlementEvent(payment, now));
  },
};
