import { type Transaction, transact } from "@payment-links/postgres";
import type { StoredTransfer, Transfer } from "../../domain/transfer.ts";
import { excludeOlderThanLink } from "../../payment-reports/list-older-than-link.ts";
import { recordTransfers } from "../../payment-reports/record-transfers.ts";
import { listStoredTransfers } from "../../store/chain-transfers.ts";
import { type Leadership, lockLeadership } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader, TransactionPointer } from "@payment-links/chains/chain-reader";
import { splitPointers } from "../transfers/split-pointers.ts";
import { findTransfers, getUnverifiedLimits, readBlockTimes } from "../transfers/find-transfers.ts";

export type RereadResult = {
  /** The last block that was read. */
  endBlock: number;
  /** Transfers that are on the chain but not stored, or not stored correctly. */
  missing: readonly Transfer[];
  /** Transfers that are stored as settled but are not on the chain. */
  surplus: readonly StoredTransfer[];
};

type RereadRange = {
  fromBlock: number;
  toBlock: number;
  finalizedTo: number;
  /**
   * Whether to check the transactions of settled payments too. They can contain further valid
   * payments.
   */
  isThorough?: boolean;
};

/** Rereads final blocks and compares them with the stored transfers. */
export const rereadBlocks = async (
  { chain, pool, verifiers }: WatchContext,
  reader: ChainReader,
  { fromBlock, toBlock, finalizedTo, isThorough = false }: RereadRange,
): Promise<RereadResult> => {
  const { pointers, endHeader } = await reader.readPointers({ fromBlock, toBlock, isAudit: true });
  const transactionHashes = [...new Set(pointers.map((pointer) => pointer.transactionHash))];
  const storedTransfers = await listStoredTransfers(pool, chain.id, {
    fromBlock,
    toBlock: endHeader.number,
    transactionHashes,
  });
  const canonicalTransfers = storedTransfers.filter(
    ({ isOrphaned, status }) => !isOrphaned && status !== "failed",
  );
  const knownKeys = new Set(canonicalTransfers.map(toPlacedTransferKey));
  // Two providers confirmed each settled payment. Other stored transfers can come from one provider
  // that reported them wrongly.
  const provenPlacements = new Set(
    canonicalTransfers.filter(({ status }) => status === "settled").map(toPlacementKey),
  );
  const readsAll = isThorough || chain.settings.storesKnownLinksOnly === true;
  const pointersToCheck = pointers.filter(
    (pointer) => readsAll || !provenPlacements.has(toPlacementKey(pointer)),
  );
  // A commit has a size limit, so the remaining pointers are read again with the next range. A
  // batch that ends before `fromBlock` does not advance the position, so the next batch is taken
  // too.
  const takenPointers: TransactionPointer[] = [];
  let endBlock = endHeader.number;
  for (const pointerBatch of splitPointers(pointersToCheck, endHeader.number)) {
    takenPointers.push(...pointerBatch.pointers);
    endBlock = pointerBatch.endBlock;
    if (endBlock >= fromBlock) break;
  }
  const limits = getUnverifiedLimits(verifiers, {
    settledBlock: finalizedTo,
    finalizedBlock: finalizedTo,
  });
  const times = await readBlockTimes(reader, takenPointers);
  const foundTransfers = await findTransfers(
    { chain, reader },
    { pointers: takenPointers, times, limits },
  );
  const unknownTransfers = foundTransfers.filter(
    (transfer) => !knownKeys.has(toPlacedTransferKey(transfer)),
  );
  const missingTransfers = await excludeOlderThanLink(pool, unknownTransfers);
  const readHashes = new Set<string>(transactionHashes);
  const surplusTransfers = canonicalTransfers.filter(
    ({ blockNumber, status, transactionHash }) =>
      status === "settled" && blockNumber <= endBlock && !readHashes.has(transactionHash),
  );
  return { endBlock, missing: missingTransfers, surplus: surplusTransfers };
};

const toPlacementKey = ({
  blockHash,
  transactionHash,
}: {
  blockHash: string;
  transactionHash: string;
}): string => `${blockHash} ${transactionHash}`;

/** Returns a key of a transfer that includes its block. */
const toPlacedTransferKey = (transfer: Transfer | StoredTransfer): string =>
  `${toPlacementKey(transfer)} ${transfer.referenceHash} ${transfer.ordinal}`;

/** Commits the missed transfers and the progress in one transaction. */
export const commitMissedTransfers = async (
  { chain, clock, log, metrics, pool, wakeRelay }: WatchContext,
  leadership: Leadership,
  missingTransfers: readonly Transfer[],
  saveProgress: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  await transact(pool, async (tx) => {
    await lockLeadership(tx, leadership);
    await recordTransfers(tx, missingTransfers, clock.now());
    await saveProgress(tx);
  });
  if (missingTransfers.length === 0) return;
  wakeRelay();
  metrics.countTransfers(chain.id, "repaired", missingTransfers.length);
  log.warn({ chain: chain.id, count: missingTransfers.length }, "missed payments found");
};
