import type { Log } from "@payment-links/runtime";
import type { Payment } from "../../domain/payment.ts";
import type { ChainMetrics } from "./chain-metrics.ts";

/**
 * Reports settled payments that their chain took away (rule STATE-10) to operators. Skips payments that
 * have not settled: on Bitcoin those are published whenever they lose their block.
 */
export const reportOrphanedSettled = (
  { log, metrics }: { log: Log; metrics: Pick<ChainMetrics, "orphanedAfterSettled"> },
  chainId: string,
  orphaned: readonly Payment[],
): void => {
  const settled = orphaned.filter(({ status }) => status === "settled");
  if (settled.length === 0) return;
  metrics.orphanedAfterSettled(chainId, settled.length);
  for (const { id, paymentLinkId, sourceTransaction } of settled) {
    log.error(
      { chain: chainId, transaction: sourceTransaction, payment_id: id, link_id: paymentLinkId },
      "a settled payment was taken away by a reorg; it keeps its credit",
    );
  }
};
