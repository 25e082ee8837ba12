import type { ChainLog } from "@payment-links/local-chains/evm/encode-logs";
import type { ModelTransfer } from "./model-transfer.ts";

/** An output of a Bitcoin transaction: the base units, and the script in hex that receives them. */
export type Output = { baseUnits: number; script: string };

/**
 * The outputs that a Bitcoin transaction spends, as `<hash>:<index>`, and the outputs that it
 * creates.
 */
export type TransactionBody = { inputs: readonly string[]; outputs: readonly Output[] };

/** A transfer by a token program on Solana. Its accounts are identified by their owners. */
export type SolanaTransfer = {
  mint: string;
  to: string;
  baseUnits: number;
  reference: string | undefined;
};

/** A transaction. It can be in a block or unconfirmed. */
export type Transaction = TransactionBody & {
  hash: string;
  /** Increases with each new transaction and block. */
  sequenceNumber: number;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** Transfers on Solana. EVM chains use `logs`. Bitcoin uses `inputs` and `outputs`. */
  transfers: readonly SolanaTransfer[];
  /**
   * The payments and deposits in the transaction. Empty for a transaction that only looks like a
   * payment.
   */
  modelTransfers: readonly ModelTransfer[];
  /** The number of bytes of unrelated data that a node returns with the transaction. */
  paddingBytes: number;
};

export type Block = {
  number: number;
  /** The number that the chain uses. On Solana, it is the slot, and some slots have no block. */
  slot: number;
  hash: string;
  sequenceNumber: number;
  parent: Block | undefined;
  timestampSeconds: number;
  transactions: readonly Transaction[];
};

export type TransactionContent = Partial<
  Pick<
    Transaction,
    "isSuccessful" | "logs" | "transfers" | "outputs" | "modelTransfers" | "paddingBytes"
  >
>;

/** The fields of a transaction without any effect. */
export const emptyContent = {
  isSuccessful: true,
  logs: [],
  transfers: [],
  inputs: [],
  outputs: [],
  modelTransfers: [],
  paddingBytes: 0,
};

/** Adds the sequence number and the hash. */
export type CreateTransaction = (
  transaction: Omit<Transaction, "hash" | "sequenceNumber">,
) => Transaction;

/** The unconfirmed transactions of a chain. */
export type Mempool = {
  /** The transactions of the chain's first block. */
  initialTransactions: readonly Transaction[];
  send: (tip: Block, from: string, content: TransactionContent) => Transaction;
  /** Removes and returns the transactions of the next block on top of a tip. */
  takeForBlock: (tip: Block) => readonly Transaction[];
  /** Called when a fork has orphaned transactions. */
  onOrphaned: (orphanedTransactions: readonly Transaction[]) => void;
  isEmpty: (tip: Block) => boolean;
  /** Called when a block has become final. */
  onFinalized: (block: Block) => void;
};

/**
 * The number of blocks on top of a block that make it `safe`, and the number that make it final.
 */
export const safeDepth = 3;
export const finalDepth = 6;

/** Returns the blocks of a chain from its first block to a tip. */
export const listChainBlocks = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let block: Block | undefined = tip; block !== undefined; block = block.parent)
    blocks[block.number] = block;
  return blocks;
};
