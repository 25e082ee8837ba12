import { type Transfer, type StoredTransfer, toTransferKey } from "../../domain/transfer.ts";
import { isNonceUsed, classifyOrphanedTransfer } from "../../domain/classify-orphaned-transfer.ts";
import type { FinalityLimits } from "../../domain/plan-scan.ts";
import { listOrphanedTransfers } from "../../store/open-transfers.ts";
import type { Leadership } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import { ChainUnreachableError } from "../chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import {
  findTransfersInReceipt,
  isSameTransfer,
  getDepositFilter,
  readBlockTime,
} from "../transfers/find-transfers.ts";
import { type NonceObservations, pruneObservations, readUsedNonces } from "./used-nonces.ts";

const pageCountMax = 100;
const pagesMax = 50;

/** The cursor of the walk over orphaned payments, and its results. */
export type OrphanCheck = {
  /** "0" if a new round starts. */
  afterSeq: string;
  /** The last final block when the current round started. */
  roundFinalizedTo: number;
  /** How many payments of the round are undecided so far. */
  undecidedCount: number;
  /** The last final block at which a full round decided every payment. */
  decidedTo: number;
  observations: NonceObservations;
};

/** Creates the state for a walk that has not started. */
export const createOrphanCheck = (): OrphanCheck => ({
  afterSeq: "0",
  roundFinalizedTo: -1,
  undecidedCount: 0,
  decidedTo: -1,
  observations: new Map(),
});

/**
 * Decides which payments that were orphaned before they settled can never be mined again
 * (rule CHAIN-5). Continues the current round over all of them. A failure is permanent, so two
 * providers, if there are two, must agree on receipt and nonce. A provider that has pruned the
 * payment's blocks has no vote. Throws `ChainUnreachableError` after deciding the others if the
 * providers do not agree on some.
 */
export const resolveOrphanedTransfers = async (
  watch: WatchContext,
  leadership: Leadership,
  { limits, orphanCheck }: { limits: FinalityLimits; orphanCheck: OrphanCheck },
): Promise<void> => {
  const { chain, pool } = watch;
  if (orphanCheck.afterSeq === "0") {
    pruneObservations(orphanCheck.observations, orphanCheck.roundFinalizedTo);
    Object.assign(orphanCheck, { roundFinalizedTo: limits.finalizedBlock, undecidedCount: 0 });
  }
  for (let page = 0; page < pagesMax; page += 1) {
    const { afterSeq } = orphanCheck;
    const pageQuery = { afterSeq, countMax: pageCountMax, ...getDepositFilter(chain) };
    const orphanedTransfers = await listOrphanedTransfers(pool, chain.id, pageQuery);
    const lastOfFullPage =
      orphanedTransfers.length === pageCountMax ? orphanedTransfers.at(-1) : undefined;
    // Set before the requests, so that undecidable payments do not block the ones behind them.
    orphanCheck.afterSeq = lastOfFullPage?.seq ?? "0";
    orphanCheck.undecidedCount += orphanedTransfers.length;
    if (orphanedTransfers.length > 0)
      orphanCheck.undecidedCount -= await resolvePage(watch, leadership, {
        orphanedTransfers,
        limits,
        orphanCheck,
      });
    if (lastOfFullPage !== undefined) continue;
    if (orphanCheck.undecidedCount === 0) orphanCheck.decidedTo = orphanCheck.roundFinalizedTo;
    break;
  }
  if (orphanCheck.undecidedCount === 0) return;
  const message = `chain ${chain.id}: no two providers agree on ${orphanCheck.undecidedCount} orphaned payments`;
  throw new ChainUnreachableError(message);
};

type OrphanedPage = {
  orphanedTransfers: readonly StoredTransfer[];
  limits: FinalityLimits;
  orphanCheck: OrphanCheck;
};

/** Returns how many payments of the page the providers agree on. */
const resolvePage = async (
  watch: WatchContext,
  leadership: Leadership,
  page: OrphanedPage,
): Promise<number> => {
  const { orphanedTransfers, limits } = page;
  const { usedNonces, outcomes } = await readNoncesAndReceipts(watch, page);
  let decidedCount = 0;
  const settledTransfers = new Map<string, Transfer>();
  const failedTransfers: StoredTransfer[] = [];
  for (const storedTransfer of orphanedTransfers) {
    const outcome = outcomes.get(storedTransfer.transactionHash);
    const usedCount = usedNonces.get(storedTransfer.sender);
    if (outcome === undefined || usedCount === undefined) continue;
    decidedCount += 1;
    const { receipt } = outcome;
    const provenTransfers =
      receipt === undefined ? [] : findTransfersInReceipt(watch, storedTransfer, receipt, limits);
    const matchedTransfer = provenTransfers.find((transfer) =>
      isSameTransfer(transfer, storedTransfer),
    );
    const resolution = classifyOrphanedTransfer({
      finalizedTo: limits.finalizedBlock,
      receipt:
        receipt === undefined
          ? undefined
          : { blockNumber: receipt.blockNumber, holdsTransfer: matchedTransfer !== undefined },
      nonce: storedTransfer.nonce,
      usedNonces: usedCount,
    });
    if (resolution === "failed") failedTransfers.push(storedTransfer);
    if (resolution === "found" && receipt !== undefined) {
      const minedAt = outcome.minedAt ?? (await readBlockTime(watch.reader, receipt));
      // Includes transfers that one provider left out, because the audit skips settled
      // transactions.
      for (const transfer of provenTransfers) {
        settledTransfers.set(toTransferKey(transfer), {
          ...transfer,
          occurredAt: minedAt ?? transfer.occurredAt,
        });
      }
    }
  }
  await commitOutcomes(watch, leadership, {
    settled: [...settledTransfers.values()],
    failed: failedTransfers,
  });
  return decidedCount;
};

/** Reads what the providers agree on: the used nonces of each sender, and the receipts. */
const readNoncesAndReceipts = async (
  watch: WatchContext,
  { orphanedTransfers, limits, orphanCheck: { observations } }: OrphanedPage,
) => {
  // Nonces are read before receipts: a transaction mined in between then has a receipt.
  const senders = [...new Set(orphanedTransfers.map(({ sender }) => sender))];
  const usedNonces = await readUsedNonces(watch, senders, {
    finalizedTo: limits.finalizedBlock,
    observations,
  });
  const requiredBlocks = new Map(
    orphanedTransfers.map(({ blockNumber, transactionHash }) => [transactionHash, blockNumber]),
  );
  // Only payments whose nonce is used can fail because their receipt is missing.
  const seenTransactions = new Map(
    orphanedTransfers
      .filter(({ nonce, sender }) => isNonceUsed(nonce, usedNonces.get(sender) ?? 0))
      .map((transfer) => [transfer.transactionHash, transfer]),
  );
  const outcomes = await agreeOnReceipts(watch, {
    requiredBlocks,
    seenTransactions,
    finalizedTo: limits.finalizedBlock,
    canVote: () => true,
  });
  return { usedNonces, outcomes };
};
