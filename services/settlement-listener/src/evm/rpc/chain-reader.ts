import type { Hex } from "viem";
import type { EventLog } from "../../domain/decode-event.ts";
import type { Heads } from "../../domain/plan-scan.ts";

/** The parts of a block's header that the watcher needs. */
export type BlockHeader = {
  number: number;
  hash: Hex;
  parentHash: Hex;
  /** Unix seconds: the chain's own time, by which a payment is early or late. */
  timestampSeconds: number;
  logsBloom: Hex;
};

/** A log of a configured fee proxy, and where it stands. It only points to a receipt. */
export type ProxyLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** Its block's Unix seconds, if the node gives them with the log; that saves a question. */
  timestampSeconds?: number;
};

/** What became of a transaction, in the block that a node holds to be canonical. */
export type TransactionReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** In their order; a log's place in this list names it, also after a reorg. */
  logs: readonly EventLog[];
};

/** Who sent a transaction. At most one transaction of a sender and nonce is ever mined. */
export type Sender = { address: Hex; nonce: number };

/**
 * Reads one chain. Every call ends within a bound, over as many providers as there are, and throws
 * {@link ChainUnreachableError} once none can answer. Nothing is cached.
 */
export type ChainReader = {
  readHeads(): Promise<Heads>;
  /**
   * The canonical blocks of a range, both ends included, in order; fewer if the node's chain ends
   * before.
   */
  readHeaders(range: { fromBlock: number; toBlock: number }): Promise<readonly BlockHeader[]>;
  /**
   * The fee proxies' logs from `fromBlock` on, in order: as far as the provider bears in one
   * question, and at most to `toBlock`. `end` is the last block covered, read after the logs and
   * from the same node; its hash shows which chain they belong to. Blocks whose headers are given
   * are checked against their blooms, and asked for again if logs may be missing. `readBy` is the id
   * of the provider.
   */
  readLogs(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly BlockHeader[];
  }): Promise<{ logs: readonly ProxyLog[]; end: BlockHeader; readBy: string }>;
  /** Receipts by transaction hash; one that is in no canonical block is left out. */
  readReceipts(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, TransactionReceipt>>;
  /**
   * Who sent transactions, mined or pending, and with which nonce; one that the node does not know is
   * left out.
   */
  readSenders(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, Sender>>;
  /** How many transactions an address had sent by a block: the first nonce not yet used. */
  readUsedNonces(address: Hex, blockNumber: number): Promise<number>;
  /** A contract's code, `0x` where there is none. */
  readCode(address: Hex): Promise<Hex>;
  /** A read-only call at the latest block; undefined where it reverts. */
  call(to: Hex, data: Hex): Promise<Hex | undefined>;
  readChainId(): Promise<number>;
};

/** A chain as one of its providers shows it: each question is put to that one alone. */
export type Witness = {
  /**
   * Tells the provider from others for ever, wherever it stands in the configuration, and reveals
   * nothing of its address.
   */
  id: string;
  reader: ChainReader;
};

/** No provider of a chain could answer within the bounds; the message names no address. */
export class ChainUnreachableError extends Error {
  override readonly name = "ChainUnreachableError";
}
