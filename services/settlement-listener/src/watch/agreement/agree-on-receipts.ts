import type { WatchContext } from "../chain/watch-context.ts";
import type { TransactionReceipt, Witness } from "../chain-reader.ts";
import { readTimes } from "../transfers/find-transfers.ts";
import { agree, quorumOf } from "./agree.ts";

/** What became of a transaction. */
export type Fate = {
  /** Undefined where it is in no canonical block. */
  receipt: TransactionReceipt | undefined;
  /** Its block's own time; undefined where one provider alone was asked. */
  minedAt: Date | undefined;
};

/**
 * Asks for receipts until two providers, where there are two, say the same of each: the block and
 * its time, and all that the receipt holds. One on which they do not agree is left out. `mayVote`
 * says whether a provider has itself seen enough blocks on top of one.
 */
export const agreeOnReceipts = async (
  { chain, metrics, witnesses }: Pick<WatchContext, "chain" | "metrics" | "witnesses">,
  blocks: ReadonlyMap<string, number>,
  mayVote: (witness: Witness, blockNumber: number) => boolean,
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
      return new Map(
        asked.flatMap((hash): [string, Fate][] => {
          const receipt = receipts.get(hash);
          if (receipt === undefined) return [[hash, { receipt, minedAt: undefined }]];
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
 * Deposits are left out: which there are depends on the owners known when a provider was asked, and the
 * evidence holds what they are made of.
 */
const printOf = ({ minedAt, receipt }: Fate): string => {
  const transfers = receipt?.transfers.filter(({ payer }) => payer === undefined);
  return JSON.stringify({ minedAt, receipt: receipt && { ...receipt, transfers } });
};
