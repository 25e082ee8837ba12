import type { WatchContext } from "../chain/watch-context.ts";
import {
  ChainUnreachableError,
  type SeenTransaction,
  type TransactionReceipt,
  type Verifier,
} from "@payment-links/chains/chain-reader";
import { readBlockTimes } from "../transfers/find-transfers.ts";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";
import { proveAbsent } from "./prove-absent.ts";

export type TransactionOutcome = {
  /** The transaction's receipt. Undefined if no canonical block contains the transaction. */
  receipt: TransactionReceipt | undefined;
  /** The block's time. Undefined if there is only one provider. */
  minedAt: Date | undefined;
};

type ReceiptQuery = {
  /** Maps each transaction to the block that a provider must have reached to vote on it. */
  requiredBlocks: ReadonlyMap<string, number>;
  /**
   * Transactions for which a missing receipt can change a payment. A provider votes for their
   * absence only if it proves that none of its blocks up to `finalizedTo` contains them.
   */
  seenTransactions: ReadonlyMap<string, SeenTransaction>;
  finalizedTo: number;
  /**
   * Returns whether, by its own heads, the provider has enough blocks on top of a block to vote.
   */
  canVote: (verifier: Verifier, blockNumber: number) => boolean;
};

/**
 * Requests receipts until two providers, if there are two, agree on each one: on its block, the
 * block's time and its full contents. Leaves out transactions without agreement.
 */
export const agreeOnReceipts = async (
  { chain, metrics, verifiers }: Pick<WatchContext, "chain" | "metrics" | "verifiers">,
  { requiredBlocks, finalizedTo, canVote, seenTransactions }: ReceiptQuery,
): Promise<ReadonlyMap<string, TransactionOutcome>> => {
  const quorum = getQuorum(verifiers);
  const { agreedValues: agreedOutcomes, contradictedCount } = await reachQuorum({
    verifiers,
    quorum,
    keys: [...requiredBlocks.keys()],
    fetchValues: async (verifier, hashes) => {
      const queriedHashes = hashes.filter((hash) =>
        canVote(verifier, requiredBlocks.get(hash) ?? Infinity),
      );
      const receipts = await verifier.reader.readReceipts(queriedHashes);
      // With a single provider, the time that the scan stored is used.
      const blockTimes =
        quorum > 1 ? await readBlockTimes(verifier.reader, [...receipts.values()]) : new Map();
      const missingTransactions = queriedHashes.flatMap((hash) =>
        receipts.has(hash) ? [] : (seenTransactions.get(hash) ?? []),
      );
      const absentHashes = await findAbsent({ chain, verifier }, missingTransactions, finalizedTo);
      return new Map(
        queriedHashes.flatMap((hash): [string, TransactionOutcome][] => {
          const receipt = receipts.get(hash);
          if (receipt === undefined) {
            const isProven = !seenTransactions.has(hash) || absentHashes.has(hash);
            return isProven ? [[hash, { receipt, minedAt: undefined }]] : [];
          }
          const minedAt: Date | undefined = blockTimes.get(receipt.blockNumber);
          return canVote(verifier, receipt.blockNumber) ? [[hash, { receipt, minedAt }]] : [];
        }),
      );
    },
    toFingerprint: (outcome) => (quorum > 1 ? toFingerprint(outcome) : ""),
  });
  metrics.countContradictions(chain.id, "receipt", contradictedCount);
  return agreedOutcomes;
};

/**
 * Returns the transactions that one provider proves absent. A reorg may have moved a transaction
 * below the block where it was last seen, but by no more than `finalDepthBlocks`.
 */
const findAbsent = async (
  { chain, verifier }: Pick<WatchContext, "chain"> & { verifier: Verifier },
  missingTransactions: readonly SeenTransaction[],
  toBlock: number,
): Promise<ReadonlySet<string>> => {
  const { finalDepthBlocks, firstBlock = 0 } = chain.settings;
  const seenByHash = new Map(
    missingTransactions.map((transaction) => [transaction.transactionHash, transaction]),
  );
  const earliestBlockByHash = new Map(
    missingTransactions.map(({ blockNumber, transactionHash }) => [
      transactionHash,
      Math.max(firstBlock, blockNumber - finalDepthBlocks),
    ]),
  );
  try {
    return await proveAbsent(earliestBlockByHash, (hashes, fromBlock) => {
      const seenTransactions = hashes.flatMap((hash) => seenByHash.get(hash) ?? []);
      return verifier.reader.readAbsent(seenTransactions, { fromBlock, toBlock });
    });
  } catch (error) {
    // If the proof fails, the provider's votes on existing receipts still count.
    if (error instanceof ChainUnreachableError) return new Set();
    throw error;
  }
};

/**
 * Returns the text by which votes are compared. Leaves out deposits, because they depend on which
 * owners were known when each provider was asked. The logs of deposits are still compared, as part
 * of the receipt's evidence.
 */
const toFingerprint = ({ minedAt, receipt }: TransactionOutcome): string => {
  const transfers = receipt?.transfers.filter(({ isDeposit }) => isDeposit !== true);
  return JSON.stringify({ minedAt, receipt: receipt && { ...receipt, transfers } });
};
