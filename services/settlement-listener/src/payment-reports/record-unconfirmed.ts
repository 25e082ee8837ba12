import type { Transaction } from "@payment-links/postgres";
import { type StoredTransfer, transferToPaymentReport } from "../domain/transfer.ts";
import { type Payment, isPublishable } from "../domain/payment.ts";
import { recordPaymentReports } from "./record-payment-reports.ts";
import { insertUnconfirmed } from "../store/chain-transfers.ts";
import { lockReferencesShared } from "../store/references.ts";

/**
 * Records mempool transfers. Their payments become processing and have no block. Known transfers
 * stay unchanged. Money at a reserved address is stored without a link until a link gets the
 * address (rule CHAIN-28). The transaction must hold the leadership lock.
 */
export const recordUnconfirmed = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
): Promise<readonly Payment[]> => {
  if (transfers.length === 0) return [];
  const links = await lockReferencesShared(
    tx,
    transfers.map(({ referenceHash }) => referenceHash),
  );
  const linkedTransfers = transfers.map((transfer) => ({
    ...transfer,
    paymentLinkId: links.get(transfer.referenceHash)?.linkId ?? null,
  }));
  const addedTransfers = await insertUnconfirmed(tx, linkedTransfers, now);
  return recordMempoolStatus(tx, addedTransfers, () => true, now);
};

/**
 * Records whether transfers without a block are in the mempool. Those that no node knows are marked
 * as dropped until they reappear.
 */
export const recordMempoolStatus = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  isInMempool: (transactionHash: string) => boolean,
  now: Date,
): Promise<readonly Payment[]> => {
  const reports = transfers.flatMap((transfer) => {
    const report = transferToPaymentReport(transfer, "processing");
    if (report === undefined) return [];
    return [{ ...report, isOrphaned: !isInMempool(transfer.transactionHash) }];
  });
  const results = await recordPaymentReports(tx, reports, now);
  return results.filter(isPublishable).map(({ payment }) => payment);
};
