import type { FetchUsedAddresses } from "@payment-links/contracts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { isAbsentFromBlock } from "../../rpc/read-absent.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ChainReader, SeenTransaction } from "../../watch/chain-reader.ts";
import type { ChainSettings } from "../../watch/chain/chain-settings.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import {
  blockRequest,
  blockHashRequest,
  heightRequest,
  transactionRequest,
} from "./rpc-requests.ts";
import type { Payees } from "./payees.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { createReadHeads } from "./reads/read-heads.ts";
import { createReadPointers } from "./reads/read-pointers.ts";
import { fetchKnown, createTransactionReads, listMined } from "./reads/read-transactions.ts";
import { createReadUsedAddresses } from "./reads/read-used-addresses.ts";
import { createReadMempool } from "./reads/read-mempool.ts";
import { createReadUsedNonces } from "./reads/read-used-nonces.ts";

/** Reads Bitcoin: a `ChainReader` plus the reads for the catalogue check. */
export type BitcoinReader = ChainReader & {
  /** Returns the chain that the first provider serves: the first characters of its genesis hash. */
  readChain(): Promise<string>;
  /** Returns whether the node finds transactions by id in all blocks (`txindex`). */
  hasTransactionIndex(): Promise<boolean>;
  /** Returns which addresses were already used. Rejects if no node can answer. */
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
    readHeads: createReadHeads(context),
    readHeaders: createReadHeaders(context),
    readPointers: createReadPointers(context, payees),
    ...createTransactionReads(context, { chain, payees }),
    readUsedNonces: createReadUsedNonces(context),
    readMempool: createReadMempool(context, { chain, payees, finalDepthBlocks }),
    fetchUsedAddresses: createReadUsedAddresses(context),
    readChain: () => readChain(context),
    hasTransactionIndex: () => failover.run("the index of transactions", hasTransactionIndex),
    // A node with `txindex` has the whole history, because Bitcoin Core and btcd do not prune then.
    // A node that is rebuilding the index has not indexed the newest block, so it fails this check.
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
 * Returns whether a node has a different block than the one in which a transaction was seen, or has
 * that block without the transaction.
 */
const isAbsentAtHeight = async (
  provider: Provider,
  seenTransaction: SeenTransaction,
): Promise<boolean> => {
  const [hash] = await provider.request([blockHashRequest(seenTransaction.blockNumber)]);
  // A block with another hash is not read, because blocks have megabytes.
  if (hash !== seenTransaction.blockHash) return true;
  const [{ transactions }] = await provider.request([blockRequest(hash)]);
  return isAbsentFromBlock(seenTransaction, {
    hash,
    transactionHashes: transactions.map(({ txid }) => txid),
  });
};

/** Returns whether the node finds the newest block's coinbase transaction by id. */
const hasTransactionIndex = async (provider: Provider): Promise<boolean> => {
  const [height] = await provider.request([heightRequest]);
  // Nodes do not return the coinbase of the genesis block.
  if (height === 0) return true;
  const [hash] = await provider.request([blockHashRequest(height)]);
  const [block] = await provider.request([blockRequest(hash)]);
  const txids = block.transactions.slice(0, 1).map(({ txid }) => txid);
  return (await fetchKnown(provider, txids.map(transactionRequest))).length > 0;
};
