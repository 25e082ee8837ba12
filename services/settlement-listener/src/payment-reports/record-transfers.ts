import { parseSolanaAddress } from "@payment-links/chains";
import type { Transaction } from "@payment-links/postgres";
import {
  type Transfer,
  type StoredTransfer,
  transferToPaymentReport,
  toTransferKey,
} from "../domain/transfer.ts";
import { deriveDepositId } from "../domain/deposit.ts";
import { type Payment, type PaymentReport, isPublishable } from "../domain/payment.ts";
import { type NewTransfer, storeTransfers } from "../store/chain-transfers.ts";
import { markOwnersPaid } from "../store/owner-addresses.ts";
import { lockReferencesShared } from "../store/references.ts";
import { listOlderThanLink } from "./list-older-than-link.ts";
import { recordNewPaymentReports, recordPaymentReports } from "./record-payment-reports.ts";

/** The maximum number of transfers per transaction, and per insert statement. */
export const transfersPerCommitMax = 500;

/**
 * Records transfers found on a chain: stores them, and records a payment report for each one whose
 * link is known. Bitcoin money that is older than the link at its address is stored without a link.
 * Call this in the transaction that moves the chain's checkpoint, while it holds the leadership
 * lock. Each transfer must occur once. Pass at most {@link transfersPerCommitMax} transfers, or all
 * transfers of one block if it has more.
 */
export const recordTransfers = async (
  tx: Transaction,
  transfers: readonly Transfer[],
  now: Date,
): Promise<void> => {
  if (transfers.length === 0) return;
  const links = await lockReferencesShared(
    tx,
    transfers.flatMap(({ isDeposit, referenceHash }) => (isDeposit ? [] : referenceHash)),
  );
  const olderKeys = await listOlderThanLink(tx, transfers, links);
  const findLinkId = (transfer: Transfer): string | null =>
    olderKeys.has(toTransferKey(transfer))
      ? null
      : (links.get(transfer.referenceHash)?.linkId ?? null);
  const toNewTransfer = (transfer: Transfer): NewTransfer => ({
    ...transfer,
    nonce: transfer.nonce ?? null,
    isOrphaned: false,
    paymentLinkId: transfer.isDeposit ? deriveDepositId(transfer) : findLinkId(transfer),
  });
  const statusByKey = new Map(
    transfers.map((transfer) => [toTransferKey(transfer), transfer.status]),
  );
  await markProvenOwnersPaid(tx, transfers, now);
  const quorumConfirmedKeys = new Set(transfers.filter(isConfirmedByQuorum).map(toTransferKey));
  for (let offset = 0; offset < transfers.length; offset += transfersPerCommitMax) {
    const page = transfers.slice(offset, offset + transfersPerCommitMax);
    const { areNew, stored: storedTransfers } = await storeTransfers(
      tx,
      page.map(toNewTransfer),
      now,
    );
    const reports = storedTransfers.flatMap((storedTransfer): PaymentReport[] => {
      const key = toTransferKey(storedTransfer);
      const status = statusByKey.get(key) === "settled" ? "settled" : "processing";
      const report = transferToPaymentReport(storedTransfer, status);
      if (report === undefined) return [];
      return [quorumConfirmedKeys.has(key) ? { ...report, witnessedAt: now } : report];
    });
    await (areNew ? recordNewPaymentReports : recordPaymentReports)(tx, reports, now);
  }
};

/**
 * Records the addresses at which payments have settled. Deposits are left out, because they do not
 * prove that the address belongs to an owner. Only Solana polls some owners more often than others,
 * so other chains skip this.
 */
const markProvenOwnersPaid = async (
  tx: Transaction,
  transfers: readonly Transfer[],
  now: Date,
): Promise<void> => {
  const settledTransfers = transfers.filter(
    ({ destinationAddress, isDeposit, status }) =>
      status === "settled" && isDeposit !== true && isSolanaAddress(destinationAddress),
  );
  const [firstTransfer] = settledTransfers;
  if (firstTransfer === undefined) return;
  const addresses = settledTransfers.map(({ destinationAddress }) => destinationAddress);
  await markOwnersPaid(tx, firstTransfer.chainId, addresses, now);
};

/** A quorum agrees on each nonce and on each receipt that settles a transfer. */
const isConfirmedByQuorum = ({ nonce, status }: Transfer): boolean =>
  nonce !== undefined || status === "settled";

/**
 * Records payment reports for stored transfers. The caller must hold the lock of the chain's
 * leadership or of the references. Returns the payments whose published state changed.
 */
export const recordStoredTransfers = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
  getStatus: (storedTransfers: StoredTransfer) => PaymentReport["status"] = () => "processing",
): Promise<readonly Payment[]> => {
  const results = await recordPaymentReports(tx, toPaymentReports(transfers, getStatus), now);
  return results.filter(isPublishable).map(({ payment }) => payment);
};

const toPaymentReports = (
  transfers: readonly StoredTransfer[],
  getStatus: (storedTransfers: StoredTransfer) => PaymentReport["status"],
): readonly PaymentReport[] =>
  transfers.flatMap((transfer) => transferToPaymentReport(transfer, getStatus(transfer)) ?? []);

const isSolanaAddress = (address: string): boolean => !("fault" in parseSolanaAddress(address));
