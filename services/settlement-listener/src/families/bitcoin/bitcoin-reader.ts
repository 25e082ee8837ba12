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

/** Reads Bitcoin: as every chain is read, and what its check against the catalogue asks. */
export type BitcoinReader = ChainReader & {
  /** Returns the chain that the first provider serves: the beginning of its genesis hash. */
  readChain(): Promise<string>;
  /** Whether the node finds transactions by their ids in all blocks (`txindex`). */
  hasTransactionIndex(): Promise<boolean>;
  /** Which addresses were used; rejects if no node can tell. */
  fetchUsedAddresses: FetchUsedAddresses;
};

/** The reads of one chain of Bitcoin over its providers. */
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
    // With its index a node forgets nothing: Bitcoin Core and btcd refuse to prune then. While the index is
    // made anew, from the first block on, it has not come to the newest one.
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

/** Whether a node has another block than the one in which a transaction was seen, or one without it. */
const isAbsentAtHeight = async (
  provider: Provider,
  seenTransaction: SeenTransaction,
): Promise<boolean> => {
  const [hash] = await provider.request([blockHashRequest(seenTransaction.blockNumber)]);
  // The block of another hash need not be read: it has megabytes.
  if (hash !== seenTransaction.blockHash) return true;
  const [{ transactions }] = await provider.request([blockRequest(hash)]);
  return isAbsentFromBlock(seenTransaction, {
    hash,
    transactionHashes: transactions.map(({ txid }) => txid),
  });
};

/** Whether the newest block's own transaction is known by its id. */
const hasTransactionIndex = async (provider: Provider): Promise<boolean> => {
  const [height] = await provider.request([heightRequest]);
  // The coinbase of the first block is no transaction that can be asked for.
  if (height === 0) return true;
  const [hash] = await provider.request([blockHashRequest(height)]);
  const [block] = await provider.request([blockRequest(hash)]);
  const txids = block.transactions.slice(0, 1).map(({ txid }) => txid);
  return (await fetchKnown(provider, txids.map(transactionRequest))).length > 0;
};
