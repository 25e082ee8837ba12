import { chunk } from "../../rpc/chunk.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { orFault } from "../../rpc/json-rpc.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader } from "../../reads/chain-reader.ts";
import { blockHashRequest, headerRequest } from "./rpc-requests.ts";

type Range = { fromBlock: number; toBlock: number };

/**
 * Creates the read of a range's block headers. It accepts fewer headers than requested only if no
 * provider has reported a head that covers the range.
 */
export const createReadHeaders =
  ({ highestHead, countDisagreement, failover }: ReaderContext): ChainReader["readHeaders"] =>
  async (range) => {
    if (range.toBlock < range.fromBlock) return [];
    return failover.run("headers", async (provider) => {
      const headers = await fetchHeaders(provider, range);
      const isShort = headers.length < range.toBlock - range.fromBlock + 1;
      if (isShort && range.toBlock <= highestHead.latest) {
        countDisagreement("short_headers");
        throw new RpcFault("behind", "headers below the known head are missing");
      }
      return headers;
    });
  };

/**
 * Returns the headers of a range. Each is the parent of the next one. Returns fewer headers if the
 * node's chain ends before the end of the range.
 */
export const fetchHeaders = async (
  provider: Provider,
  { fromBlock, toBlock }: Range,
): Promise<readonly BlockHeader[]> => {
  const numbers = Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => fromBlock + index);
  const hashes = await fetchHashes(provider, numbers);
  const headers = await provider.request(hashes.map(headerRequest), { inParts: true });
  const isConnected = headers.every(
    ({ parentHash }, index) => index === 0 || parentHash === headers[index - 1]?.hash,
  );
  if (!isConnected) throw new RpcFault("behind", "the chain changed during the read");
  return headers.map((header, index) => ({ ...header, number: fromBlock + index }));
};

/**
 * The maximum number of hashes per batch. It is small because a node may report a head far beyond
 * the blocks that it has.
 */
const hashesPerBatchMax = 100;

const fetchHashes = async (
  provider: Provider,
  numbers: readonly number[],
): Promise<readonly string[]> => {
  const hashes: string[] = [];
  for (const batch of chunk(numbers, hashesPerBatchMax)) {
    const requests = batch.map((number) => orFault(blockHashRequest(number)));
    for (const result of await provider.request(requests)) {
      if (!(result instanceof RpcFault)) hashes.push(result);
      else if (result.kind === "behind") return hashes;
      else throw result;
    }
  }
  return hashes;
};
