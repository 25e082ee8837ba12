import type { ModelTransfer } from "./model-transfer.ts";

/** What a transaction on Bitcoin pays: units to whom a script says, in hex. */
export type Output = { baseUnits: number; script: string };

/** What a transaction on Bitcoin spends, as `<hash>:<index>`, and what it pays. */
export type TransactionBody = { inputs: readonly string[]; outputs: readonly Output[] };

/** A token program's transfer on Solana: accounts by their owners. */
export type SolanaTransfer = {
  mint: string;
  to: string;
  baseUnits: number;
  reference: string | undefined;
};

export type ChainLog = { address: string; topics: readonly string[]; data: string };

/** A transaction, whether or not a block holds it. */
export type Transaction = TransactionBody & {
  hash: string;
  /** A later one has a greater number, of transactions and blocks. */
  sequenceNumber: number;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** On Solana, in place of logs, as its inputs and outputs are on Bitcoin. */
  transfers: readonly SolanaTransfer[];
  /** What it pays; nothing for one that only looks like it. */
  modelTransfers: readonly ModelTransfer[];
  /** Bytes of strangers' data that a node shows with it. */
  paddingBytes: number;
};

export type Block = {
  number: number;
  /** What its chain calls its place: on Solana some slots have no block. */
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

/** What waits to be mined. */
export type Mempool = {
  /** What the chain's first block holds. */
  initialTransactions: readonly Transaction[];
  send: (tip: Block, from: string, content: TransactionContent) => Transaction;
  /** What the next block on a tip holds. */
  takeForBlock: (tip: Block) => readonly Transaction[];
  /** A fork has taken these away. */
  onOrphaned: (orphanedTransactions: readonly Transaction[]) => void;
  isEmpty: (tip: Block) => boolean;
  /** A block has become final. */
  onFinalized: (block: Block) => void;
};

/** So many blocks on top of its own make a block `safe`, and so many final. */
export const safeDepth = 3;
export const finalDepth = 6;

/** The blocks of a chain from a tip down to its first. */
export const listChainBlocks = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let block: Block | undefined = tip; block !== undefined; block = block.parent)
    blocks[block.number] = block;
  return blocks;
};
