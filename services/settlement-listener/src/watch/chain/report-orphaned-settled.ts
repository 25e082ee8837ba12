import type { Log } from "@payment-links/runtime";
import type { Payment } from "../../domain/payment.ts";
import type { ChainMetrics } from "./chain-metrics.ts";

/** Tells operators of settled payments that a chain took away; of others nobody is told (rule STATE-10). */
export const reportOrphanedSettled = (
  { log, metrics }: { log: Log; metrics: Pick<ChainMetrics, "orphanedAfterSettled"> },
  chainId: string,
  flagged: readonly Payment[],
): void => {
  if (flagged.length === 0) return;
  metrics.orphanedAfterSettled(chainId, flagged.length);
  for (const { id, paymentLinkId, sourceTransaction } of flagged) {
    log.error(
      { chain: chainId, transaction: sourceTransaction, payment_id: id, link_id: paymentLinkId },
      "a settled payment was taken away by a reorg; it keeps its credit",
    );
  }
};
