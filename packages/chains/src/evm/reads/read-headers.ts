import { numberToHex } from "viem";
import { type ChainReader, ChainUnreachableError } from "../../reads/chain-reader.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { RpcRequest } from "../../rpc/json-rpc.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import { type EvmHeader, parseHeader } from "./rpc-results.ts";

/** Requests a header by number. */
export const headerRequest = (blockNumber: number): RpcRequest<EvmHeader | null> => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(blockNumber), false],
  parseResult: parseHeader,
});

/**
 * Creates the read of a range's headers. Each header is the parent of the next one. It returns
 * fewer headers than requested only if no provider has reported a head that covers the range, or if
 * no provider has more of them.
 */
export const createReadHeaders =
  ({
    highestHead,
    countDisagreement,
    failover,
  }: ReaderContext): ChainReader<EvmHeader>["readHeaders"] =>
  async ({ fromBlock, toBlock }) => {
    const count = Math.max(0, toBlock - fromBlock + 1);
    const requests = Array.from({ length: count }, (_, index) => headerRequest(fromBlock + index));
    let longestHeaders: readonly EvmHeader[] | undefined;
    try {
      return await failover.run("headers", async (provider) => {
        const results = await provider.request(requests, { inParts: true });
        const headers = takeUntilMissing(results, { fromBlock, providerId: provider.id });
        if (!areConnected(headers)) {
          countDisagreement("unchained_headers");
          throw new RpcFault("invalid", "the headers do not form a chain");
        }
        if (headers.length < count && toBlock <= highestHead.latest) {
          countDisagreement("short_headers");
          if (headers.length >= (longestHeaders?.length ?? 0)) longestHeaders = headers;
          throw new RpcFault("behind", "the node has not reached this block");
        }
        return headers;
      });
    } catch (error) {
      if (!(error instanceof ChainUnreachableError) || longestHeaders === undefined) throw error;
      return longestHeaders;
    }
  };

const takeUntilMissing = (
  results: readonly (EvmHeader | null)[],
  { fromBlock, providerId }: { fromBlock: number; providerId: string },
): EvmHeader[] => {
  const headers: EvmHeader[] = [];
  for (const header of results) {
    if (header === null) break;
    if (header.number !== fromBlock + headers.length) {
      throw new RpcFault("invalid", "the node returned the header of another block");
    }
    headers.push({ ...header, providerId });
  }
  return headers;
};

const areConnected = (headers: readonly EvmHeader[]): boolean =>
  headers.every((header, index) => {
    const parent = headers[index - 1];
    return parent === undefined || parent.hash === header.parentHash;
  });
