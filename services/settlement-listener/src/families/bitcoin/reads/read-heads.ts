import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { heightRequest } from "../rpc-requests.ts";

/** Reads how far the chain is. What is final, depth decides: Bitcoin has no tags. */
export const createReadHeads = (
  context: Parameters<typeof readFurthestHeads>[0],
): ChainReader["readHeads"] =>
  readFurthestHeads(context, async (provider) => {
    const [latest] = await provider.request([heightRequest]);
    return { latest, safe: null, finalized: null };
  });
