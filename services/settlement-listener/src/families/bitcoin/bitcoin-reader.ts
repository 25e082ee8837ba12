import type { AskUsedAddresses } from "@payment-links/contracts";
import type { ReaderGround } from "../../rpc/open-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { isGoneFrom } from "../../rpc/read-absent.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ChainReader, SeenTransaction } from "../../watch/chain-reader.ts";
import type { ChainSettings } from "../../watch/chain/chain-settings.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import {
  blockQuestion,
  hashQuestion,
  heightQuestion,
  transactionQuestion,
} from "./node-answers.ts";
import type { Payees } from "./payees.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { createReadHeads } from "./reads/read-heads.ts";
import { createReadPointers } from "./reads/read-pointers.ts";
import { askKnown, createTransactionReads, listMined } from "./reads/read-transactions.ts";
import { createReadUsedAddresses } from "./reads/read-used-addresses.ts";
import { createReadWaiting } from "./reads/read-waiting.ts";
import { createReadUsedNonces } from "./reads/read-used-nonces.ts";

/** Reads Bitcoin: as every chain is read, and what its check against the catalogue asks. */
export type BitcoinReader = ChainReader & {
  /** Returns the chain that the first provider serves: the beginning of its genesis hash. */
  readChain(): Promise<string>;
  /** Whether the node finds transactions by their ids in all blocks (`txindex`). */
  keepsTransactions(): Promise<boolean>;
  /** Which addresses were used; rejects if no node can tell. */
  askUsedAddresses: AskUsedAddresses;
};

/** The reads of one chain of Bitcoin over its providers. */
export const createBitcoinReader = (
  ground: ReaderGround,
  chain: BitcoinChain,
  payees: Payees,
  { finalDepthBlocks }: Pick<ChainSettings, "finalDepthBlocks">,
): BitcoinReader => {
  const { turn } = ground;
  return {
    readHeads: createReadHeads(ground),
    readHeaders: createReadHeaders(ground),
    readPointers: createReadPointers(ground, payees),
    ...createTransactionReads(ground, { chain, payees }),
    readUsedNonces: createReadUsedNonces(ground),
    readWaiting: createReadWaiting(ground, { chain, payees, finalDepthBlocks }),
    askUsedAddresses: createReadUsedAddresses(ground),
    readChain: () => readChain(ground),
    keepsTransactions: () => turn.ask("the index of transactions", hasIndex),
    // With its index a node forgets nothing: Bitcoin Core and btcd refuse to prune then. While the index is
    // made anew, from the first block on, it has not come to the newest one.
    readAbsent: (seen) =>
      turn.ask("absent transactions", async (provider) => {
        if (!(await hasIndex(provider))) return new Set<string>();
        const txids = seen.map(({ transactionHash }) => transactionHash);
        const mined = await listMined(provider, txids);
        const absent = new Set<string>();
        for (const one of seen) {
          const isMined = mined.has(one.transactionHash);
          if (!isMined && (await isGoneFromHeight(provider, one))) absent.add(one.transactionHash);
        }
        return absent;
      }),
  };
};

/** Whether a node has another block than the one in which a transaction was seen, or one without it. */
const isGoneFromHeight = async (provider: Provider, seen: SeenTransaction): Promise<boolean> => {
  const [hash] = await provider.ask([hashQuestion(seen.blockNumber)]);
  // The block of another hash need not be read: it has megabytes.
  if (hash !== seen.blockHash) return true;
  const [{ transactions }] = await provider.ask([blockQuestion(hash)]);
  return isGoneFrom(seen, { hash, transactionHashes: transactions.map(({ txid }) => txid) });
};

/** Whether the newest block's own transaction is known by its id. */
const hasIndex = async (provider: Provider): Promise<boolean> => {
  const [height] = await provider.ask([heightQuestion]);
  // The coinbase of the first block is no transaction that can be asked for.
  if (height === 0) return true;
  const [hash] = await provider.ask([hashQuestion(height)]);
  const [block] = await provider.ask([blockQuestion(hash)]);
  const txids = block.transactions.slice(0, 1).map(({ txid }) => txid);
  return (await askKnown(provider, txids.map(transactionQuestion))).length > 0;
};
