import { publish } from "@payment-links/bus";
import { releaseParked } from "../store/payments.ts";
import type { Transaction } from "../store/transaction.ts";
import { settlementEvent } from "./settlement-event.ts";

const releasedAtOnceMax = 500;

/**
 * Tells of the payments that were parked for a link, in the order in which they came. Called in the
 * transaction that first hears of the link, with the link locked.
 */
export const releaseLink = async (tx: Transaction, linkId: string, now: Date): Promise<void> => {
  for (;;) {
    const payments = await releaseParked(tx, linkId, releasedAtOnceMax);
    await publish(
      tx,
      payments.map((payment) => settlementEvent(payment, now)),
    );
    if (payments.length < releasedAtOnceMax) return;
  }
};
