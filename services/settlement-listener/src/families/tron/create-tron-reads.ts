import type { Hex } from "viem";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { createEvmReads } from "../evm/create-evm-reads.ts";
import type { EvmReads } from "../evm/evm-reads.ts";
import type { WatchedLogs } from "../evm/reads/read-logs.ts";

/**
 * java-tron takes a transaction into a block only where it expires at most so long after the block
 * before (`Constant.MAXIMUM_TIME_UNTIL_EXPIRATION`).
 */
const expirationSeconds = 24 * 60 * 60;

/**
 * The reads of a Tron over its providers. It has no account nonces: what can be used only once is time.
 * A transaction's nonce is the Unix second by which it has expired at the latest, a day after a block that
 * held it, as the JSON-RPC does not tell its expiration; "used" are the seconds that have gone by at a
 * block.
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
