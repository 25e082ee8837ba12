import type { FetchUsedAddresses } from "@payment-links/contracts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { isAbsentFromBlock } from "../../rpc/read-absent.ts";
import type { ChainReader, SeenTransaction } from "../../reads/chain-reader.ts";
import type { ChainSettings } from "../../reads/chain-settings.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import {
  blockRequest,
  blockHashRequest,
  heightRequest,
  transactionRequest,
} from "./rpc-requests.ts";
import type { Payees } from "./payees.ts";
import { createReadHeaders } from "./read-headers.ts";
import { createReadPointers } from "./read-pointers.ts";
import { fetchKnown, createTransactionReads, listMined } from "./read-transactions.ts";
import { createReadUsedAddresses } from "./read-used-addresses.ts";
import { createReadMempool } from "./read-mempool.ts";
import { createReadUsedNonces } from "./read-used-nonces.ts";

/** A `ChainReader` for Bitcoin, with additional reads for the catalogue check. */
export type BitcoinReader = ChainReader & {
  /**
   * Returns the first characters of the genesis hash of the chain that the first provider serves.
   */
  readChain(): Promise<string>;
  /** Returns whether the node can look up any mined transaction by id (`txindex`). */
  hasTransactionIndex(): Promise<boolean>;
  /** Returns which addresses have already received a payment. Rejects if no node can answer. */
  fetchUsedAddresses: FetchUsedAddresses;
};

/** Creates the reader of one Bitcoin network over its providers. */
export const createBitcoinReader = (
  context: ReaderContext,
  chain: BitcoinChain,
  payees: Payees,
  { finalDepthBlocks }: Pick<ChainSettings, "finalDepthBlocks">,
): BitcoinReader => {
  const { failover } = context;
  return {
    // Bitcoin has no `safe` or `finalized` tag, so a block becomes final at a certain depth.
    readHeads: () =>
      failover.readHeads(async (provider) => {
        const [latest] = await provider.request([heightRequest]);
        return { latest, safe: null, finalized: null };
      }),
    readHeaders: createReadHeaders(context),
    readPointers: createReadPointers(context, payees),
    ...createTransactionReads(context, { chain, payees }),
    readUsedNonces: createReadUsedNonces(context),
    readMempool: createReadMempool(context, { chain, payees, finalDepthBlocks }),
    fetchUsedAddresses: createReadUsedAddresses(context),
    readChain: () => failover.readChain(),
    hasTransactionIndex: () => failover.run("the transaction index", hasTransactionIndex),
    // A node with `txindex` has the whole history, because Bitcoin Core and btcd cannot prune
    // blocks when that index is on. While a node rebuilds the index, it cannot find the newest
    // block's transactions, so it fails this check.
    readAbsent: (seenTransactions) =>
      failover.run("absent transactions", async (provider) => {
        if (!(await hasTransactionIndex(provider))) return new Set<string>();
        const txids = seenTransactions.map(({ transactionHash }) => transactionHash);
        const mined = await listMined(provider, txids);
        const absent = new Set<string>();
        for (const seenTransaction of seenTransactions) {
          const isMined = mined.has(seenTransaction.transactionHash);
          if (!isMined && (await isAbsentAtHeight(provider, seenTransaction)))
            absent.add(seenTransaction.transactionHash);
        }
        return absent;
      }),
  };
};

/**
 * Returns whether the node proves that a transaction is no longer in the block in which it was
 * seen: its block at that height differs, or has the same hash but does not contain the
 * transaction.
 */
const isAbsentAtHeight = async (
  provider: Provider,
  seenTransaction: SeenTransaction,
): Promise<boolean> => {
  const [hash] = await provider.request([blockHashRequest(seenTransaction.blockNumber)]);
  // If the hash differs, there is no need to fetch the block, which can be several megabytes.
  if (hash !== seenTransaction.blockHash) return true;
  const [{ transactions }] = await provider.request([blockRequest(hash)]);
  return isAbsentFromBlock(seenTransaction, {
    hash,
    transactionHashes: transactions.map(({ txid }) => txid),
  });
};

/** Returns whether the node can look up the newest block's coinbase transaction by id. */
const hasTransactionIndex = async (provider: Provider): Promise<boolean> => {
  const [height] = await provider.request([heightRequest]);
  // Nodes do not return the coinbase transaction of the genesis block.
  if (height === 0) return true;
  const [hash] = await provider.request([blockHashRequest(height)]);
  const [block] = await provider.request([blockRequest(hash)]);
  const txids = block.transactions.slice(0, 1).map(({ txid }) => txid);
  return (await fetchKnown(provider, txids.map(transactionRequest))).length > 0;
};
