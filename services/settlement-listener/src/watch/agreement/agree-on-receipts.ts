import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError, type TransactionReceipt, type Witness } from "../chain-reader.ts";
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
   * Where those were seen last of which something follows if they have no receipt. That there is none
   * must be proved then: a provider that may have forgotten it has no vote.
   */
  seenIn: ReadonlyMap<string, number>;
  /** Whether a provider has itself seen enough blocks on top of one. */
  mayVote: (witness: Witness, blockNumber: number) => boolean;
};

/**
 * Asks for receipts until two providers, where there are two, say the same of each: the block and
 * its time, and all that the receipt holds. One on which they do not agree is left out.
 */
export const agreeOnReceipts = async (
  { chain, metrics, witnesses }: Pick<WatchContext, "chain" | "metrics" | "witnesses">,
  { blocks, mayVote, seenIn }: Asked,
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
      const doubtful = asked.filter((hash) => seenIn.has(hash) && !receipts.has(hash));
      const absent = await readAbsent({ chain, witness }, doubtful, seenIn);
      return new Map(
        asked.flatMap((hash): [string, Fate][] => {
          const receipt = receipts.get(hash);
          if (receipt === undefined) {
            const isProved = !seenIn.has(hash) || absent.has(hash);
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
  hashes: readonly string[],
  seenIn: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> => {
  const { finalDepthBlocks, firstBlock = 0 } = chain.settings;
  const sinceOf = new Map(
    hashes.map((hash) => [hash, Math.max(firstBlock, (seenIn.get(hash) ?? 0) - finalDepthBlocks)]),
  );
  try {
    return await proveAbsent(sinceOf, (some, sinceBlock) =>
      witness.reader.readAbsent(some, sinceBlock),
    );
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
