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

/** Where the walk over lost payments is, and what it came to. */
export type OrphanCheck = {
  /** "0" where a round is to begin. */
  afterSeq: string;
  /** The last final block as the round under way began. */
  roundFinalizedTo: number;
  /** How many of the round could not be decided so far. */
  undecidedCount: number;
  /** The last final block at which a whole round decided all. */
  decidedTo: number;
  observations: NonceObservations;
};

/** A walk that is to begin. */
export const createOrphanCheck = (): OrphanCheck => ({
  afterSeq: "0",
  roundFinalizedTo: -1,
  undecidedCount: 0,
  decidedTo: -1,
  observations: new Map(),
});

/**
 * Judges payments that a reorg took away before they settled, the next of them in a round over all:
 * which of them can no longer come back (rule CHAIN-5). A failure is for ever, so two providers, where
 * there are two, must say the same of receipt and nonce, and one that has forgotten the time of a
 * payment says nothing of it. Throws `ChainUnreachableError` where they do not, once it has judged the
 * others.
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
    // Before anybody is asked: those that cannot be decided hold up none behind them.
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
  const message = `chain ${chain.id}: no two providers agree on ${orphanCheck.undecidedCount} lost payments`;
  throw new ChainUnreachableError(message);
};

type OrphanedPage = {
  orphanedTransfers: readonly StoredTransfer[];
  limits: FinalityLimits;
  orphanCheck: OrphanCheck;
};

/** Answers of how many of them the providers say the same. */
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
      // Also what one provider had left out: the audit does not look into what is settled.
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

/** What the providers agree on: how many nonces each sender has used, and the receipts. */
const readNoncesAndReceipts = async (
  watch: WatchContext,
  { orphanedTransfers, limits, orphanCheck: { observations } }: OrphanedPage,
) => {
  // They are read before the receipts: a transaction that is mined in between has a receipt then.
  const senders = [...new Set(orphanedTransfers.map(({ sender }) => sender))];
  const usedNonces = await readUsedNonces(watch, senders, {
    finalizedTo: limits.finalizedBlock,
    observations,
  });
  const requiredBlocks = new Map(
    orphanedTransfers.map(({ blockNumber, transactionHash }) => [transactionHash, blockNumber]),
  );
  // No other can fail by having no receipt.
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
