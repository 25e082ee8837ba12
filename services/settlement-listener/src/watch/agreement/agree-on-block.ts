import type { WatchContext } from "../chain/watch-context.ts";
import type { Witness } from "../chain-reader.ts";
import { agree, quorumOf } from "./agree.ts";

/** What providers say stands at a height. */
type BlockAgreement = {
  /** Undefined while too few of them say the same. */
  hash: string | undefined;
  /** How many say what most of them say. */
  voiceCount: number;
  dissenters: readonly string[];
};

/** Asks providers for the hash of a block, and counts it where they contradict one another. */
export const agreeOnBlock = async (
  { chain, metrics, witnesses }: Pick<WatchContext, "chain" | "metrics" | "witnesses">,
  number: number,
  asked: readonly Witness[] = witnesses,
): Promise<BlockAgreement> => {
  const { agreed, contradictedCount, dissenters, voiceCountMin } = await agree({
    witnesses: asked,
    quorum: quorumOf(witnesses),
    keys: [number],
    ask: async ({ reader }) => {
      const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
      return new Map(header === undefined ? [] : [[number, header.hash]]);
    },
    printOf: (hash) => hash,
  });
  metrics.contradicted(chain.id, "block", contradictedCount);
  return { hash: agreed.get(number), voiceCount: voiceCountMin, dissenters };
};
