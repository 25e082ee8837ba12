import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { heightQuestion } from "../node-answers.ts";

/** Reads how far the chain is. What is final, depth decides: Bitcoin has no tags. */
export const createReadHeads = (
  ground: Parameters<typeof readFurthestHeads>[0],
): ChainReader["readHeads"] =>
  readFurthestHeads(ground, async (provider) => {
    const [latest] = await provider.ask([heightQuestion]);
    return { latest, safe: null, finalized: null };
  });
