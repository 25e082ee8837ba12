import type { Hex } from "viem";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { createEvmReads } from "../evm/create-evm-reads.ts";
import type { EvmReads } from "../evm/evm-reads.ts";
import type { WatchedLogs } from "../evm/reads/read-logs.ts";

/**
 * java-tron includes a transaction in a block only if it expires at most this long after the
 * previous block (`Constant.MAXIMUM_TIME_UNTIL_EXPIRATION`).
 */
const expirationSeconds = 24 * 60 * 60;

/**
 * Creates the reads of a Tron network over its providers. Tron has no account nonces, so expiration
 * times replace them. A transaction's nonce is the latest Unix second at which it can expire: one
 * day after the block that contains it. The JSON-RPC API does not return the actual expiration. The
 * used nonce at a block is the block's time in Unix seconds.
 */
export const createTronReads = (
  context: ReaderContext,
  watchedLogs: Omit<WatchedLogs, "hasLogsBloom">,
): EvmReads => {
  const reads = createEvmReads(context, { ...watchedLogs, hasLogsBloom: false });
  const readHeader = async (number: number) => {
    const [header] = await reads.readHeaders({ fromBlock: number, toBlock: number });
    return header;
  };
  return {
    ...reads,
    readSenders: async (hashes) => {
      const receipts = [...(await reads.readReceipts(hashes)).values()];
      const headers = new Map<number, Awaited<ReturnType<typeof readHeader>>>();
      for (const number of new Set(receipts.map(({ blockNumber }) => blockNumber))) {
        headers.set(number, await readHeader(number));
      }
      return new Map(
        receipts.flatMap((receipt): [Hex, { address: Hex; nonce: number }][] => {
          const header = headers.get(receipt.blockNumber);
          if (header?.hash !== receipt.blockHash) return [];
          const nonce = header.timestampSeconds + expirationSeconds;
          return [[receipt.transactionHash, { address: receipt.from, nonce }]];
        }),
      );
    },
    readUsedNonces: async (_address, blockNumber) =>
      (await readHeader(blockNumber))?.timestampSeconds ?? 0,
  };
};
