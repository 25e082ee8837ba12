import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { ChainReader, Sender, TransactionReceipt } from "../../reads/chain-reader.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import {
  type KnownTransaction,
  type CanonicalBlock,
  canonicalBlockRequest,
  transactionRequest,
} from "./rpc-requests.ts";
import type { Payees } from "./payees.ts";
import { listTransfers, toSender } from "./verify-transaction.ts";

type TransactionReads = Pick<ChainReader, "readReceipts" | "readSenders">;

/** A transaction, and the canonical block that contains it, if any. */
type LocatedTransaction = KnownTransaction & { canonicalBlock: CanonicalBlock | undefined };

/** Creates the reads for receipts and senders. */
export const createTransactionReads = (
  { failover }: ReaderContext,
  { chain, payees }: { chain: BitcoinChain; payees: Payees },
): TransactionReads => {
  const readTransactions = (description: string, txids: readonly string[]) =>
    failover.readKnown(description, { keys: txids, fetchItems: fetchTransactions });
  return {
    readReceipts: async (txids) => {
      const { findPayee } = await payees.read();
      const transactions = await readTransactions("transactions", txids);
      return new Map(
        [...transactions].flatMap(([txid, { blockHash, parsedTransaction, canonicalBlock }]) => {
          if (canonicalBlock === undefined || blockHash === undefined) return [];
          const receipt: TransactionReceipt = {
            transactionHash: txid,
            blockNumber: canonicalBlock.number,
            blockHash,
            timestampSeconds: canonicalBlock.timestampSeconds,
            sender: toSender(parsedTransaction),
            transfers: listTransfers(parsedTransaction, findPayee, chain),
            // The transaction id covers all inputs and outputs.
            evidence: txid,
          };
          return [[txid, receipt] as const];
        }),
      );
    },
    readSenders: async (txids) => {
      const transactions = await readTransactions("senders", txids);
      return new Map(
        [...transactions].flatMap(
          ([txid, { blockHash, parsedTransaction, canonicalBlock }]): [string, Sender][] => {
            const address = toSender(parsedTransaction);
            // Bitcoin Core still returns transactions of orphaned blocks from its index.
            const orphaned =
              blockHash !== undefined && canonicalBlock === undefined
                ? { isOrphaned: true as const }
                : {};
            if (!parsedTransaction.isCoinbase) return [[txid, { address, nonce: 0, ...orphaned }]];
            // A coinbase is only valid at the height of its own block.
            return canonicalBlock === undefined
              ? []
              : [[txid, { address, nonce: canonicalBlock.number }]];
          },
        ),
      );
    },
  };
};

/**
 * Returns the transactions that a node knows, with their canonical blocks. Leaves out unknown
 * transactions.
 */
export const fetchTransactions = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlyMap<string, LocatedTransaction>> => {
  const knownTransactions = await fetchKnown(provider, txids.map(transactionRequest));
  const blockHashes = [...new Set(knownTransactions.flatMap(({ blockHash }) => blockHash ?? []))];
  const results = await fetchEachKnown(provider, blockHashes.map(canonicalBlockRequest));
  const canonicalBlocks = new Map(
    blockHashes.map((blockHash, index) => [blockHash, results[index]]),
  );
  return new Map(
    knownTransactions.map((knownTransaction): [string, LocatedTransaction] => [
      knownTransaction.parsedTransaction.txid,
      {
        ...knownTransaction,
        canonicalBlock:
          knownTransaction.blockHash === undefined
            ? undefined
            : canonicalBlocks.get(knownTransaction.blockHash),
      },
    ]),
  );
};

/** Returns the ids of the transactions that are in a canonical block. */
export const listMined = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const transactions = await fetchTransactions(provider, [...new Set(txids)]);
  return new Set(
    [...transactions].flatMap(([txid, { canonicalBlock }]) =>
      canonicalBlock === undefined ? [] : [txid],
    ),
  );
};

/** Returns the results in the order of the requests. The result of an unknown item is undefined. */
const fetchEachKnown = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly (T | undefined)[]> => {
  const results = await provider.request(requests.map(orFault), { inParts: true });
  return results.map((result) => {
    if (!(result instanceof RpcFault)) return result;
    if (result.kind !== "behind") throw result;
    return undefined;
  });
};

/** Returns the results for the items that the node knows, without the others. */
export const fetchKnown = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly T[]> =>
  (await fetchEachKnown(provider, requests)).filter((result) => result !== undefined);
