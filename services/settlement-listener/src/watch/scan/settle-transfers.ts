import type { StoredTransfer, Transfer } from "../../domain/transfer.ts";
import type { FinalityLimits } from "../../domain/plan-scan.ts";
import { type OpenTransferCursor, listDueTransfers } from "../../store/open-transfers.ts";
import type { Leadership } from "../../store/watchers.ts";
import { agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import type { ObservedHeads } from "../agreement/read-observed-heads.ts";
import type { ChainSettings } from "../chain/chain-settings.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { TransactionReceipt } from "../chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import {
  findTransfersInReceipt,
  hasEnoughConfirmations,
  isSameTransfer,
  getDepositFilter,
  readBlockTime,
  withLinkTotals,
} from "../transfers/find-transfers.ts";

/** How far the watch and its providers have come. */
type SettlementReach = { scannedTo: number; finalizedTo: number; observedHeads: ObservedHeads };

const duePageSize = 500;
const pagesMax = 20;

/**
 * Settles the payments that have reached the chain's finality (rule CHAIN-4). Reads their receipts
 * again from the canonical chain, from two providers if there are two; what they agree on decides
 * about the money. A payment waits while they disagree, or while its receipt is in a different
 * block that is not final. It does not block payments behind it. A payment fails if its final
 * receipt no longer contains it. It becomes orphaned if two providers prove that its transaction is
 * absent from final blocks. Returns whether there is more to do immediately.
 */
export const settleTransfers = async (
  watch: WatchContext,
  leadership: Leadership,
  progress: SettlementReach,
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  let cursor: OpenTransferCursor | undefined;
  let dueCount = 0;
  let waitingCount = 0;
  for (let pageIndex = 0; pageIndex < pagesMax; pageIndex += 1) {
    const toBlock = getSettledBlock(chain.settings, progress);
    const dueQuery = { toBlock, after: cursor, countMax: duePageSize, ...getDepositFilter(chain) };
    const page = await listDueTransfers(pool, chain.id, dueQuery);
    // Some payments need more confirmations than others.
    const duePayments = withLinkTotals(page).flatMap(({ linkTotal, payment }) =>
      hasEnoughConfirmations(chain, linkTotal, progress.observedHeads.agreedLimits.settledBlock)
        ? payment
        : [],
    );
    waitingCount += await settlePage(watch, leadership, duePayments, progress);
    dueCount += duePayments.length;
    cursor = page.at(-1);
    if (page.length < duePageSize) break;
  }
  if (waitingCount > 0) {
    log.warn(
      { chain: chain.id, count: waitingCount },
      "payments cannot settle, their receipts are missing",
    );
  }
  return dueCount === pagesMax * duePageSize && waitingCount < dueCount;
};

/**
 * Returns the last block whose payments may settle. On a sparse chain, a reorg has to roll back to
 * the last stored block, so it would orphan final payments above that block.
 */
const getSettledBlock = (
  { finality, isSparse = false }: ChainSettings,
  { finalizedTo, scannedTo, observedHeads }: SettlementReach,
): number =>
  Math.min(
    observedHeads.agreedLimits.settledBlock,
    isSparse && finality === "finalized" ? finalizedTo : scannedTo,
  );

/**
 * Returns whether an agreed receipt puts a payment into a final block other than the stored one.
 * Then the provider that reported the stored block was wrong.
 */
const isFinalElsewhere = (
  { chain }: WatchContext,
  { amount }: StoredTransfer,
  { blockNumber, sender }: TransactionReceipt,
  limits: FinalityLimits,
): boolean =>
  blockNumber <= limits.finalizedBlock &&
  hasEnoughConfirmations(chain, { amount, blockNumber, sender }, limits.settledBlock);

/** Settles one page of payments. Returns how many of them have to wait. */
const settlePage = async (
  watch: WatchContext,
  leadership: Leadership,
  dueTransfers: readonly StoredTransfer[],
  { finalizedTo, observedHeads }: SettlementReach,
): Promise<number> => {
  if (dueTransfers.length === 0) return 0;
  const { outcomes, seenTransactions } = await readDueReceipts(watch, dueTransfers, {
    finalizedTo,
    observedHeads,
  });
  const limits = {
    settledBlock: observedHeads.agreedLimits.settledBlock,
    finalizedBlock: finalizedTo,
  };
  const settledTransfers: Transfer[] = [];
  const omittedTransfers: Transfer[] = [];
  const failedTransfers: StoredTransfer[] = [];
  const missingTransfers: StoredTransfer[] = [];
  const dueByTransaction = Map.groupBy(dueTransfers, ({ transactionHash }) => transactionHash);
  for (const storedTransfer of dueTransfers) {
    const outcome = outcomes.get(storedTransfer.transactionHash);
    const { minedAt, receipt } = outcome ?? {};
    const isFinalized = storedTransfer.blockNumber <= finalizedTo;
    const isAbsent = outcome !== undefined && receipt === undefined;
    if (isAbsent && seenTransactions.has(storedTransfer.transactionHash))
      missingTransfers.push(storedTransfer);
    if (receipt === undefined) continue;
    const isElsewhere = receipt.blockHash !== storedTransfer.blockHash;
    if (isElsewhere && !isFinalElsewhere(watch, storedTransfer, receipt, limits)) continue;
    const blockTime =
      minedAt ?? (isElsewhere ? await readBlockTime(watch.reader, receipt) : undefined);
    const occurredAt = blockTime ?? storedTransfer.occurredAt;
    const provenTransfers = findTransfersInReceipt(
      watch,
      { ...storedTransfer, occurredAt },
      receipt,
      limits,
    );
    const matchedTransfer = provenTransfers.find((transfer) =>
      isSameTransfer(transfer, storedTransfer),
    );
    // Another page holds more payments of the same transaction, and their total needs more
    // confirmations.
    if (matchedTransfer?.status === "seen") continue;
    if (matchedTransfer !== undefined) settledTransfers.push(matchedTransfer);
    else if (isFinalized || isElsewhere) failedTransfers.push(storedTransfer);
    const transactionDue = dueByTransaction.get(storedTransfer.transactionHash) ?? [];
    if (transactionDue[0] !== storedTransfer) continue;
    // Transfers that the first provider left out of the receipt. The audit skips known
    // transactions.
    omittedTransfers.push(
      ...provenTransfers.filter(
        (transfer) => !transactionDue.some((dueTransfer) => isSameTransfer(transfer, dueTransfer)),
      ),
    );
  }
  await commitOutcomes(watch, leadership, {
    settled: [...settledTransfers, ...omittedTransfers],
    failed: failedTransfers,
    missing: missingTransfers,
  });
  return (
    dueTransfers.length - settledTransfers.length - failedTransfers.length - missingTransfers.length
  );
};

/**
 * Reads the receipts that providers agree on. `seenTransactions` are those that count as missing
 * without a receipt.
 */
const readDueReceipts = async (
  watch: WatchContext,
  dueTransfers: readonly StoredTransfer[],
  { finalizedTo, observedHeads }: Pick<SettlementReach, "finalizedTo" | "observedHeads">,
) => {
  const { getExtraConfirmations = () => 0 } = watch.chain;
  const requiredBlocks = new Map(
    withLinkTotals(dueTransfers).map(({ linkTotal }) => [
      linkTotal.transactionHash,
      linkTotal.blockNumber + getExtraConfirmations(linkTotal),
    ]),
  );
  // A single node may simply lack the data.
  const absenceCandidates = dueTransfers.filter(
    ({ blockNumber }) => blockNumber <= finalizedTo && watch.verifiers.length > 1,
  );
  const seenTransactions = new Map(
    absenceCandidates.map((transfer) => [transfer.transactionHash, transfer]),
  );
  const outcomes = await agreeOnReceipts(watch, {
    requiredBlocks,
    seenTransactions,
    finalizedTo,
    canVote: ({ id }, blockNumber) =>
      blockNumber <= (observedHeads.limitsByProvider.get(id)?.settledBlock ?? -1),
  });
  return { outcomes, seenTransactions };
};
