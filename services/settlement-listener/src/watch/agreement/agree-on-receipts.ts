import type { WatchContext } from "../chain/watch-context.ts";
import {
  ChainUnreachableError,
  type SeenTransaction,
  type TransactionReceipt,
  type Witness,
} from "../chain-reader.ts";
import { readTimes } from "../transfers/find-transfers.ts";
import { agree, quorumOf } from "./agree.ts";
import { proveAbsent } from "./prove-absent.ts";

/** What became of a transaction. */
export type Fate = {
  /** Undefined where it is in no canonical block. */
  receipt: TransactionReceipt | undefined;
  /** Its block's own time; undefined where one provider alone was asked. */
  minedAt: Date | undefined;
};

type Asked = {
  /** Whose receipts are asked for, with the block up to which a provider must have come. */
  blocks: ReadonlyMap<string, number>;
  /**
   * The transactions of which something follows if they have no receipt. A provider votes for that only
   * if it proves that none of its blocks up to `finalTo` holds them.
   */
  seen: ReadonlyMap<string, SeenTransaction>;
  finalTo: number;
  /** Whether a provider has itself seen enough blocks on top of one. */
  mayVote: (witness: Witness, blockNumber: number) => boolean;
};

/**
 * Asks for receipts until two providers, where there are two, say the same of each: the block and
 * its time, and all that the receipt holds. One on which they do not agree is left out.
 */
export const agreeOnReceipts = async (
  { chain, metrics, witnesses }: Pick<WatchContext, "chain" | "metrics" | "witnesses">,
  { blocks, finalTo, mayVote, seen }: Asked,
): Promise<ReadonlyMap<string, Fate>> => {
  const quorum = quorumOf(witnesses);
  const { agreed, contradictedCount } = await agree({
    witnesses,
    quorum,
    keys: [...blocks.keys()],
    ask: async (witness, hashes) => {
      const asked = hashes.filter((hash) => mayVote(witness, blocks.get(hash) ?? Infinity));
      const receipts = await witness.reader.readReceipts(asked);
      // A lone provider's word for the time stands since it was scanned.
      const times =
        quorum > 1 ? await readTimes(witness.reader, [...receipts.values()]) : new Map();
      const doubtful = asked.flatMap((hash) => (receipts.has(hash) ? [] : (seen.get(hash) ?? [])));
      const absent = await readAbsent({ chain, witness }, doubtful, finalTo);
      return new Map(
        asked.flatMap((hash): [string, Fate][] => {
          const receipt = receipts.get(hash);
          if (receipt === undefined) {
            const isProved = !seen.has(hash) || absent.has(hash);
            return isProved ? [[hash, { receipt, minedAt: undefined }]] : [];
          }
          const minedAt: Date | undefined = times.get(receipt.blockNumber);
          return mayVote(witness, receipt.blockNumber) ? [[hash, { receipt, minedAt }]] : [];
        }),
      );
    },
    printOf: (fate) => (quorum > 1 ? printOf(fate) : ""),
  });
  metrics.contradicted(chain.id, "receipt", contradictedCount);
  return agreed;
};

/**
 * Those that are nowhere by the word of one provider. A fork may have moved one to an older block than
 * that in which it was seen last, but not by more blocks than the chain is deep until it is final.
 */
const readAbsent = async (
  { chain, witness }: Pick<WatchContext, "chain"> & { witness: Witness },
  doubtful: readonly SeenTransaction[],
  toBlock: number,
): Promise<ReadonlySet<string>> => {
  const { finalDepthBlocks, firstBlock = 0 } = chain.settings;
  const seenOf = new Map(doubtful.map((one) => [one.transactionHash, one]));
  const sinceOf = new Map(
    doubtful.map(({ blockNumber, transactionHash }) => [
      transactionHash,
      Math.max(firstBlock, blockNumber - finalDepthBlocks),
    ]),
  );
  try {
    return await proveAbsent(sinceOf, (hashes, fromBlock) => {
      const seen = hashes.flatMap((hash) => seenOf.get(hash) ?? []);
      return witness.reader.readAbsent(seen, { fromBlock, toBlock });
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
const printOf = ({ minedAt, receipt }: Fate): string => {
  const transfers = receipt?.transfers.filter(({ payer }) => payer === undefined);
  return JSON.stringify({ minedAt, receipt: receipt && { ...receipt, transfers } });
};
