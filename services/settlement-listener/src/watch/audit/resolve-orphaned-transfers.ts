import { type Transfer, type StoredTransfer, toTransferKey } from "../../domain/transfer.ts";
import { isNonceUsed, classifyOrphanedTransfer } from "../../domain/classify-orphaned-transfer.ts";
import type { FinalityLimits } from "../../domain/plan-scan.ts";
import { listOrphanedTransfers } from "../../store/open-transfers.ts";
import type { Leadership } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";
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

/** The progress of the check of all orphaned payments, which runs in rounds. */
export type OrphanCheck = {
  /** The cursor. "0" means that a new round starts. */
  afterSeq: string;
  /** The last final block when the current round started. */
  roundFinalizedTo: number;
  /** How many payments of the round are still undecided. */
  undecidedCount: number;
  /** The last final block for which a round decided all payments. */
  decidedTo: number;
  observations: NonceObservations;
};

/** Creates the state before the first round. */
export const createOrphanCheck = (): OrphanCheck => ({
  afterSeq: "0",
  roundFinalizedTo: -1,
  undecidedCount: 0,
  decidedTo: -1,
  observations: new Map(),
});

/**
 * Decides which orphaned payments can never be mined again and therefore fail (rule CHAIN-5).
 * Continues the current round over all orphaned payments. A failure is permanent, so two providers,
 * if there are two, must agree on the receipt and the nonce. A provider that has pruned the
 * payment's blocks has no vote. If providers do not agree on some payments, it decides the others
 * and then throws `ChainUnreachableError`.
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
    // The cursor moves before the requests, so that undecidable payments do not block the next
    // ones.
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

/** Decides the payments of one page. Returns how many it could decide. */
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
      // Also settles other transfers of the receipt, which the first provider may have left out.
      // The audit would not find them, because it skips transactions of settled payments.
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

/** Reads each sender's number of used nonces and the receipts, both as agreed by the providers. */
const readNoncesAndReceipts = async (
  watch: WatchContext,
  { orphanedTransfers, limits, orphanCheck: { observations } }: OrphanedPage,
) => {
  // Nonces are read first: if a transaction is mined in between, its receipt is found.
  const senders = [...new Set(orphanedTransfers.map(({ sender }) => sender))];
  const usedNonces = await readUsedNonces(watch, senders, {
    finalizedTo: limits.finalizedBlock,
    observations,
  });
  const requiredBlocks = new Map(
    orphanedTransfers.map(({ blockNumber, transactionHash }) => [transactionHash, blockNumber]),
  );
  // A missing receipt matters only for payments whose nonce is used, because only these can fail.
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
