import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { readKnown } from "../../../rpc/read-known.ts";
import type { ChainReader, Sender, TransactionReceipt } from "../../../watch/chain-reader.ts";
import type { BitcoinChain } from "../bitcoin-chain.ts";
import {
  type KnownTransaction,
  type CanonicalBlock,
  canonicalBlockRequest,
  transactionRequest,
} from "../rpc-requests.ts";
import type { Payees } from "../payees.ts";
import { listTransfers, toSender } from "../verify-transaction.ts";

type TransactionReads = Pick<ChainReader, "readReceipts" | "readSenders">;

/** A transaction, and its block where that is one of the node's chain. */
type LocatedTransaction = KnownTransaction & { canonicalBlock: CanonicalBlock | undefined };

/** Reads what became of transactions. */
export const createTransactionReads = (
  context: Pick<ReaderContext, "chainId" | "metrics" | "failover">,
  { chain, payees }: { chain: BitcoinChain; payees: Payees },
): TransactionReads => {
  const readTransactions = (description: string, txids: readonly string[]) =>
    readKnown(context, { description, keys: txids, fetchItems: fetchTransactions });
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
            // Its id vouches for all that is in it.
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
            // Bitcoin Core's index keeps what stood in blocks that lost.
            const orphaned =
              blockHash !== undefined && canonicalBlock === undefined
                ? { isOrphaned: true as const }
                : {};
            if (!parsedTransaction.isCoinbase) return [[txid, { address, nonce: 0, ...orphaned }]];
            // It is valid in a block of its own height only.
            return canonicalBlock === undefined
              ? []
              : [[txid, { address, nonce: canonicalBlock.number }]];
          },
        ),
      );
    },
  };
};

/** Transactions that a node knows, and where they stand; the others are left out. */
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

/** Those that a block of the node's chain holds. */
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

/** The answers in the order of the questions: undefined where the node knows no such thing. */
const fetchEachKnown = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly (T | undefined)[]> => {
  const results = await provider.requestEachInParts(requests);
  return results.map((result) => {
    if ("value" in result) return result.value;
    if (result.fault.kind !== "behind") throw result.fault;
    return undefined;
  });
};

/** The answers that there are. */
export const fetchKnown = async <T>(
  provider: Provider,
  requests: readonly RpcRequest<T>[],
): Promise<readonly T[]> =>
  (await fetchEachKnown(provider, requests)).filter((result) => result !== undefined);
