import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault, isItemFault } from "../../rpc/rpc-fault.ts";
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

type TransactionReads = Pick<ChainReader, "readReceipts" | "readSenders"> &
  Required<Pick<ChainReader, "findKnown">>;

/** A transaction, and the canonical block that contains it, if any. */
type LocatedTransaction = KnownTransaction & { canonicalBlock: CanonicalBlock | undefined };

/** Creates the reads for receipts and senders. */
export const createTransactionReads = (
  { failover }: ReaderContext,
  { chain, payees }: { chain: BitcoinChain; payees: Payees },
): TransactionReads => {
  const readTransactions = (description: string, txids: readonly string[]) =>
    failover.readKnown(description, { keys: txids, fetchItems: fetchTransactionsOrFaults });
  return {
    findKnown: async (txids) => {
      const transactions = await failover.readKnownOrFaults("known transactions", {
        keys: txids,
        fetchItems: fetchTransactionsOrFaults,
      });
      const known = new Set<string>();
      const unreadable = new Set<string>();
      for (const [txid, transaction] of transactions) {
        if (transaction instanceof RpcFault) unreadable.add(txid);
        else if (!isOnlyInOrphanedBlock(transaction)) known.add(txid);
      }
      return { known, unreadable };
    },
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
          ([txid, { parsedTransaction, canonicalBlock }]): [string, Sender][] => {
            const address = toSender(parsedTransaction);
            if (!parsedTransaction.isCoinbase) return [[txid, { address, nonce: 0 }]];
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

/** Bitcoin Core still returns transactions of orphaned blocks from its index. */
const isOnlyInOrphanedBlock = ({
  blockHash,
  canonicalBlock,
}: Pick<LocatedTransaction, "blockHash" | "canonicalBlock">): boolean =>
  blockHash !== undefined && canonicalBlock === undefined;

/**
 * Returns the transactions that a node knows, with their canonical blocks. Leaves out unknown
 * transactions. Throws if a response is invalid.
 */
export const fetchTransactions = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlyMap<string, LocatedTransaction>> =>
  new Map(
    [...(await fetchTransactionsOrFaults(provider, txids))].map(([txid, transaction]) => {
      if (transaction instanceof RpcFault) throw transaction;
      return [txid, transaction];
    }),
  );

/** Like `fetchTransactions`, but returns a fault for each transaction whose response is invalid. */
const fetchTransactionsOrFaults = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlyMap<string, LocatedTransaction | RpcFault>> => {
  const transactions = await fetchEach(provider, txids.map(transactionRequest));
  const blockHashes = [
    ...new Set(
      transactions.flatMap((transaction) =>
        transaction === undefined || transaction instanceof RpcFault
          ? []
          : (transaction.blockHash ?? []),
      ),
    ),
  ];
  const blocks = await fetchEach(provider, blockHashes.map(canonicalBlockRequest));
  const canonicalBlocks = new Map(
    blockHashes.map((blockHash, index) => [blockHash, blocks[index]]),
  );
  return new Map(
    transactions.flatMap((transaction, index): [string, LocatedTransaction | RpcFault][] => {
      if (transaction === undefined) return [];
      const txid = txids[index] ?? "";
      if (transaction instanceof RpcFault) return [[txid, transaction]];
      const { blockHash } = transaction;
      const canonicalBlock = blockHash === undefined ? undefined : canonicalBlocks.get(blockHash);
      const isInvalid = canonicalBlock instanceof RpcFault;
      return [[txid, isInvalid ? canonicalBlock : { ...transaction, canonicalBlock }]];
    }),
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

/**
 * Returns the results in the order of the requests. The result of an unknown item is undefined, and
 * that of an item without a valid response is a fault. Throws a fault that concerns all items.
 */
export const fetchEach = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly (T | RpcFault | undefined)[]> => {
  const results = await provider.request(requests.map(orFault), { inParts: true });
  return results.map((result) => {
    if (!(result instanceof RpcFault)) return result;
    if (!isItemFault(result)) throw result;
    return result.kind === "behind" ? undefined : result;
  });
};

/** Returns the results for the items that the node knows, without the others. */
export const fetchKnown = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly T[]> =>
  (await fetchEach(provider, requests)).flatMap((result) => {
    if (result instanceof RpcFault) throw result;
    return result === undefined ? [] : [result];
  });
