import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { releaseDeferredPayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

const publishBatchMax = 500;

/**
 * Publishes the payments that were deferred for the given links, in the order in which they were
 * stored. Call this in the transaction that first receives the links, while it holds their locks.
 */
export const publishDeferredPayments = async (
  tx: Transaction,
  linkIds: readonly string[],
  now: Date,
): Promise<void> => {
  for (;;) {
    const payments = await releaseDeferredPayments(tx, linkIds, publishBatchMax);
    await publish(
      tx,
      payments.map((payment) => createSettlementEvent(payment, now)),
    );
    if (payments.length < publishBatchMax) return;
  }
};
