import type { Money } from "./money.ts";

/** What a transaction on Bitcoin pays: units to whom a script says, in hex. */
export type Output = { units: number; script: string };

/** What a transaction on Bitcoin spends, as `<hash>:<index>`, and what it pays. */
export type Spending = { inputs: readonly string[]; outputs: readonly Output[] };

/** A token program's transfer on Solana: accounts by their owners. */
export type SolanaTransfer = {
  mint: string;
  to: string;
  units: number;
  reference: string | undefined;
};

export type ChainLog = { address: string; topics: readonly string[]; data: string };

/** A transaction, whether or not a block holds it. */
export type Transaction = Spending & {
  hash: string;
  /** A later one has a greater number, of transactions and blocks. */
  drawn: number;
  from: string;
  nonce: number;
  isSuccessful: boolean;
  logs: readonly ChainLog[];
  /** On Solana, in place of logs, as its inputs and outputs are on Bitcoin. */
  transfers: readonly SolanaTransfer[];
  /** What it pays; nothing for one that only looks like it. */
  money: readonly Money[];
  /** Bytes of strangers' data that a node shows with it. */
  ballastBytes: number;
};

export type Block = {
  number: number;
  /** What its chain calls its place: on Solana some slots have no block. */
  slot: number;
  hash: string;
  drawn: number;
  parent: Block | undefined;
  timestampSeconds: number;
  transactions: readonly Transaction[];
};

export type Sent = Partial<
  Pick<Transaction, "isSuccessful" | "logs" | "transfers" | "outputs" | "money" | "ballastBytes">
>;

/** What waits to be mined. */
export type Pool = {
  /** What the chain's first block holds. */
  first: readonly Transaction[];
  send: (tip: Block, from: string, sent: Sent) => Transaction;
  /** What the next block on a tip holds. */
  take: (tip: Block) => readonly Transaction[];
  /** A fork has taken these away. */
  takeBack: (lost: readonly Transaction[]) => void;
  isEmpty: (tip: Block) => boolean;
  /** A block has become final. */
  settle: (block: Block) => void;
};

/** So many blocks on top of its own make a block `safe`, and so many final. */
export const safeDepth = 3;
export const finalDepth = 6;

/** The blocks of a chain from a tip down to its first. */
export const lineage = (tip: Block): readonly Block[] => {
  const blocks: Block[] = [];
  for (let at: Block | undefined = tip; at !== undefined; at = at.parent) blocks[at.number] = at;
  return blocks;
};
