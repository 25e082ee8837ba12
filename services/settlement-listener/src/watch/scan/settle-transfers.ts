import type { StoredTransfer, Transfer } from "../../domain/transfer.ts";
import type { FinalityLimits } from "../../domain/plan-scan.ts";
import { type OpenTransferCursor, listDueTransfers } from "../../store/open-transfers.ts";
import type { Leadership } from "../../store/watchers.ts";
import { type TransactionOutcome, agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import type { ObservedHeads } from "../agreement/read-observed-heads.ts";
import type { ChainSettings } from "@payment-links/chains/chain-settings";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError, type TransactionReceipt } from "@payment-links/chains/chain-reader";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import {
  findTransfersInReceipt,
  hasEnoughConfirmations,
  isSameTransfer,
  getDepositFilter,
  readBlockTime,
  withLinkTotals,
} from "../transfers/find-transfers.ts";

/** The progress of the watch and the heads of its providers. */
type SettlementReach = { scannedTo: number; finalizedTo: number; observedHeads: ObservedHeads };

const duePageSize = 500;
const pagesMax = 20;

/**
 * Settles the payments that have reached the chain's finality (rule CHAIN-4). Reads their receipts
 * again, from two providers if there are two. The agreed receipts determine the result:
 * - A payment settles if its receipt still proves it.
 * - A payment fails if its final receipt no longer contains it.
 * - A payment becomes orphaned if two providers prove that its transaction is absent from final
 *   blocks.
 * - A payment waits while providers disagree, or while its receipt is in a different block that is
 *   not final. It does not delay other payments.
 * Returns whether there is more to do now.
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
    // Larger payments can need more confirmations than others.
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
 * Returns the last block whose payments can settle. On a sparse chain, a reorg rolls back to a
 * stored block, so payments above the last final stored block cannot settle yet.
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
 * Returns whether the agreed receipt is in a final block with enough confirmations. The caller has
 * found that this is not the stored block, so the provider that reported the stored block was
 * wrong.
 */
const isFinalElsewhere = (
  { chain }: WatchContext,
  { amount }: StoredTransfer,
  { blockNumber, sender }: TransactionReceipt,
  limits: FinalityLimits,
): boolean =>
  blockNumber <= limits.finalizedBlock &&
  hasEnoughConfirmations(chain, { amount, blockNumber, sender }, limits.settledBlock);

/** Settles one page of payments. Returns how many of them must wait. */
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
    // Another page contains more payments of this transaction, and their total needs more
    // confirmations.
    if (matchedTransfer?.status === "seen") continue;
    if (matchedTransfer !== undefined) settledTransfers.push(matchedTransfer);
    else if (isFinalized || isElsewhere) failedTransfers.push(storedTransfer);
    const transactionDue = dueByTransaction.get(storedTransfer.transactionHash) ?? [];
    if (transactionDue[0] !== storedTransfer) continue;
    // Also settles transfers of the receipt that the first provider left out. The audit would not
    // find them, because it skips transactions of settled payments.
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
 * Reads the receipts that providers agree on. `seenTransactions` contains the transactions that
 * become orphaned if they have no receipt.
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
  // With a single provider, a missing receipt is not evidence, because the node may simply lack the
  // data.
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
  }).catch(toNoOutcomes);
  return { outcomes, seenTransactions };
};

/**
 * Makes payments wait if the only provider returns no valid receipt for any of them. The scan must
 * continue, because the provider can still return valid blocks.
 */
const toNoOutcomes = (error: unknown): ReadonlyMap<string, TransactionOutcome> => {
  if (error instanceof ChainUnreachableError) return new Map();
  throw error;
};
