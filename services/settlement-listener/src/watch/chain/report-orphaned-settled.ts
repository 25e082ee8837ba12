import type { Log } from "@payment-links/runtime";
import type { Payment } from "../../domain/payment.ts";
import type { ChainMetrics } from "./chain-metrics.ts";

/**
 * Reports settled payments that a reorg orphaned (rule STATE-10) to operators. Skips unsettled
 * payments: on Bitcoin their events are published whenever they lose their block.
 */
export const reportOrphanedSettled = (
  { log, metrics }: { log: Log; metrics: Pick<ChainMetrics, "countOrphanedAfterSettled"> },
  chainId: string,
  orphanedPayments: readonly Payment[],
): void => {
  const settledPayments = orphanedPayments.filter(({ status }) => status === "settled");
  if (settledPayments.length === 0) return;
  metrics.countOrphanedAfterSettled(chainId, settledPayments.length);
  for (const { id, paymentLinkId, sourceTransaction } of settledPayments) {
    log.error(
      { chain: chainId, transaction: sourceTransaction, payment_id: id, link_id: paymentLinkId },
      "settled payment orphaned by a reorg, it stays credited",
    );
  }
};
