import type { Log } from "@payment-links/runtime";
import type { Payment } from "../../domain/payment.ts";
import type { ChainMetrics } from "./chain-metrics.ts";

/**
 * Reports settled payments that a reorg orphaned to operators, by an error log and a metric (rule
 * STATE-10). Skips unsettled payments, which also occur here: on Bitcoin, they are published when
 * they lose their block.
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
