import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { unparkPayments } from "../store/payments.ts";
import { settlementEvent } from "./settlement-event.ts";

const publishedAtOnceMax = 500;

/**
 * Publishes the payments that were parked for links, in the order in which they came. Called in the
 * transaction that first hears of the links, with the links locked.
 */
export const publishParked = async (
  tx: Transaction,
  linkIds: readonly string[],
  now: Date,
): Promise<void> => {
  for (;;) {
    const payments = await unparkPayments(tx, linkIds, publishedAtOnceMax);
    await publish(
      tx,
      payments.map((payment) => settlementEvent(payment, now)),
    );
    if (payments.length < publishedAtOnceMax) return;
  }
};
