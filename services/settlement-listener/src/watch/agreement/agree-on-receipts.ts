import type { WatchContext } from "../chain/watch-context.ts";
import {
  ChainUnreachableError,
  type SeenTransaction,
  type TransactionReceipt,
  type Verifier,
} from "../chain-reader.ts";
import { readBlockTimes } from "../transfers/find-transfers.ts";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";
import { proveAbsent } from "./prove-absent.ts";

/** What became of a transaction. */
export type TransactionOutcome = {
  /** Undefined where it is in no canonical block. */
  receipt: TransactionReceipt | undefined;
  /** Its block's own time; undefined where one provider alone was asked. */
  minedAt: Date | undefined;
};

type ReceiptQuery = {
  /** Whose receipts are asked for, with the block up to which a provider must have come. */
  requiredBlocks: ReadonlyMap<string, number>;
  /**
   * The transactions of which something follows if they have no receipt. A provider votes for that only
   * if it proves that none of its blocks up to `finalizedTo` holds them.
   */
  seenTransactions: ReadonlyMap<string, SeenTransaction>;
  finalizedTo: number;
  /** Whether a provider has itself seen enough blocks on top of one. */
  canVote: (verifier: Verifier, blockNumber: number) => boolean;
};

/**
 * Asks for receipts until two providers, where there are two, say the same of each: the block and
 * its time, and all that the receipt holds. One on which they do not agree is left out.
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
      // A lone provider's word for the time stands since it was scanned.
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
 * Those that are nowhere by the word of one provider. A fork may have moved one to an older block than
 * that in which it was seen last, but not by more blocks than the chain is deep until it is final.
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
    // Its word for what has a receipt stands.
    if (error instanceof ChainUnreachableError) return new Set();
    throw error;
  }
};

/**
 * Deposits are left out: which there are depends on the owners known when a provider was asked, and the
 * evidence holds what they are made of.
 */
const toFingerprint = ({ minedAt, receipt }: TransactionOutcome): string => {
  const transfers = receipt?.transfers.filter(({ payer }) => payer === undefined);
  return JSON.stringify({ minedAt, receipt: receipt && { ...receipt, transfers } });
};
