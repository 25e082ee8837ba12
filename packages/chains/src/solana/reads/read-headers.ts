import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader } from "../../reads/chain-reader.ts";
import { fetchHeaders } from "./fetch-blocks.ts";

/**
 * Creates the read of a header for each slot of a range. It accepts an empty result from a lagging
 * node only if no provider has reported a head that covers the range.
 */
export const createReadHeaders =
  ({ highestHead, countDisagreement, failover }: ReaderContext): ChainReader["readHeaders"] =>
  async (range) => {
    if (range.toBlock < range.fromBlock) return [];
    return failover.run("headers", async (provider): Promise<readonly BlockHeader[]> => {
      try {
        return await fetchHeaders(provider, range);
      } catch (error) {
        if (!(error instanceof RpcFault) || error.kind !== "behind") throw error;
        if (range.toBlock > highestHead.latest) return [];
        countDisagreement("short_headers");
        throw error;
      }
    });
  };
