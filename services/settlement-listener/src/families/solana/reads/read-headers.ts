import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader } from "../../../watch/chain-reader.ts";
import { askHeaders } from "./ask-blocks.ts";

type HeadersOptions = Pick<ReaderGround, "chainId" | "turn" | "metrics" | "memory">;

/**
 * Reads the header of each slot of a range. A node that has not come so far has none of it, which
 * counts only while nobody has reported a further head.
 */
export const createReadHeaders =
  ({ chainId, memory, metrics, turn }: HeadersOptions): ChainReader["readHeaders"] =>
  async (range) => {
    if (range.toBlock < range.fromBlock) return [];
    return turn.ask("headers", async (provider): Promise<readonly BlockHeader[]> => {
      try {
        return await askHeaders(provider, range);
      } catch (error) {
        if (!(error instanceof RpcFault) || error.kind !== "behind") throw error;
        if (range.toBlock > memory.latest) return [];
        metrics.disagreed(chainId, "short_headers");
        throw error;
      }
    });
  };
