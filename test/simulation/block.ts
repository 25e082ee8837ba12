import type { ModelTransfer } from "./model-transfer.ts";

/** An output of a Bitcoin transaction: base units, and the hex script that receives them. */
export type Output = { baseUnits: number; script: string };

/** The outputs that a Bitcoin transaction spends, as `<hash>:<index>`, and those it creates. */
export type TransactionBody = { inputs: readonly string[]; outputs: readonly Output[] };

/** A token program's transfer on Solana, with accounts given by their owners. */
export type SolanaTransfer = {
  mint: string;
  to: string;
  baseUnits: number;
  reference: string | undefined;
};

export type ChainLog = { address: string; topics: readonly string[]; data: string };

/** A transaction, in a block or not. */
export type Transaction = TransactionBody & {
  hash: string;
  /** Increases with each new transaction and block. */
  sequenceNumber: number;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** Transfers on Solana; other chains use `logs`, or `inputs` and `outputs` on Bitcoin. */
  transfers: readonly SolanaTransfer[];
  /** The payments and deposits that it makes; empty for a transaction that only looks like one. */
  modelTransfers: readonly ModelTransfer[];
  /** Bytes of unrelated data that a node returns with it. */
  paddingBytes: number;
};

export type Block = {
  number: number;
  /** The number that its chain uses; on Solana, some slots have no block. */
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

/** The transactions that wait to be mined. */
export type Mempool = {
  /** The transactions of the chain's first block. */
  initialTransactions: readonly Transaction[];
  send: (tip: Block, from: string, content: TransactionContent) => Transaction;
  /** Takes the transactions of the next block on a tip. */
  takeForBlock: (tip: Block) => readonly Transaction[];
  /** Called when a fork has orphaned transactions. */
  onOrphaned: (orphanedTransactions: readonly Transaction[]) => void;
  isEmpty: (tip: Block) => boolean;
  /** Called when a block has become final. */
  onFinalized: (block: Block) => void;
};

/** The number of blocks on top that make a block `safe`, and the number that makes it final. */
export const safeDepth = 3;
export const finalDepth = 6;

/** Returns the blocks of a chain from its first block to a tip. */
export const listChainBlocks = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let block: Block | undefined = tip; block !== undefined; block = block.parent)
    blocks[block.number] = block;
  return blocks;
};
