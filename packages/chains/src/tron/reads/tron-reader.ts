import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Sender } from "../../reads/chain-reader.ts";
import type { EvmChain } from "../../evm/reads/evm-chain.ts";
import { type EvmReader, createEvmReader } from "../../evm/reads/evm-reader.ts";
import type { WatchedLogs } from "../../evm/reads/read-logs.ts";
import { readEvmReceipts } from "../../evm/reads/read-transactions.ts";

/**
 * java-tron includes a transaction in a block only if it expires at most this long after the
 * previous block (`Constant.MAXIMUM_TIME_UNTIL_EXPIRATION`).
 */
const expirationSeconds = 24 * 60 * 60;

/**
 * Creates the reader of a Tron network over its providers. Tron has no account nonces, so expiration
 * times replace them. A transaction's nonce is the latest Unix second at which it can expire: one
 * day after the block that contains it. The JSON-RPC API does not return the actual expiration. The
 * used nonce at a block is the block's time in Unix seconds.
 */
export const createTronReader = (
  context: ReaderContext,
  chain: EvmChain,
  watchedLogs: Omit<WatchedLogs, "hasLogsBloom">,
): EvmReader => {
  const reader = createEvmReader(context, chain, { ...watchedLogs, hasLogsBloom: false });
  const readHeader = async (number: number) => {
    const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
    return header;
  };
  return {
    ...reader,
    readSenders: async (hashes) => {
      const { contracts } = watchedLogs;
      const receipts = [...(await readEvmReceipts(context.failover, contracts, hashes)).values()];
      const headers = new Map<number, Awaited<ReturnType<typeof readHeader>>>();
      for (const number of new Set(receipts.map(({ blockNumber }) => blockNumber))) {
        headers.set(number, await readHeader(number));
      }
      return new Map(
        receipts.flatMap((receipt): [string, Sender][] => {
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
