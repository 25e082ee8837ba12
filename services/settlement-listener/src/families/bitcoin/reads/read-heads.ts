import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { heightRequest } from "../rpc-requests.ts";

/**
 * Creates the read of the latest block height. Bitcoin has no `safe` or `finalized` tag, so a block
 * becomes final at a certain depth.
 */
export const createReadHeads = (
  context: Parameters<typeof readFurthestHeads>[0],
): ChainReader["readHeads"] =>
  readFurthestHeads(context, async (provider) => {
    const [latest] = await provider.request([heightRequest]);
    return { latest, safe: null, finalized: null };
  });
