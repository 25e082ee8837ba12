import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { unparkPayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

const publishedAtOnceMax = 500;

/**
 * Publishes the payments that were parked for a link, in the order in which they came. Called in
 * the transaction that first hears of the link, with the link locked.
 */
export const publishParked = async (tx: Transaction, linkId: string, now: Date): Promise<void> => {
  for (;;) {
    const payments = await unparkPayments(tx, linkId, publishedAtOnceMax);
    await publish(
      tx,
      payments.map((payment) => settlementEvent(payment, now)),
    );
    if (payments.length < publishedAtOnceMax) return;
  }
};
