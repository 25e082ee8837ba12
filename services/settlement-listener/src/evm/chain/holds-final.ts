import { findBlock } from "../../store/chain-blocks.ts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import type { WatchContext } from "./watch-context.ts";

/** Whether a reader holds the last final block as we do. */
export const holdsFinal = async (
  { chain, pool }: Pick<WatchContext, "chain" | "pool">,
  reader: ChainReader,
  finalizedTo: number,
): Promise<boolean> => {
  const stored = await findBlock(pool, chain.id, finalizedTo);
  const [header] = await reader.readHeaders({ fromBlock: finalizedTo, toBlock: finalizedTo });
  return stored !== undefined && header?.hash === stored.hash;
};
