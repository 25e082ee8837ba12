import type { Hex } from "viem";
import type { EventLog } from "../../domain/decode-event.ts";
import type { Heads } from "../../domain/plan-scan.ts";

/** What of a block's header the watcher needs. */
export type BlockHeader = {
  number: number;
  hash: Hex;
  parentHash: Hex;
  /** Unix seconds: the chain's own time, by which a payment is early or late. */
  timestampSeconds: number;
  logsBloom: Hex;
};

/** A log of a configured fee proxy, and where it stands: a pointer to a receipt, no more. */
export type ProxyLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** Its block's Unix seconds where the node says them with the log, which spares a question. */
  timestampSeconds?: number;
};

/** What became of a transaction, in the block that a node holds to be canonical. */
export type TransactionReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** In their order; the place of one in this list names it, also after a reorg. */
  logs: readonly EventLog[];
};

/**
 * Reads one chain. Every call ends within a bound, over as many providers as there are, and throws
 * {@link ChainUnreachableError} once none can answer. Nothing is cached.
 */
export type ChainReader = {
  readHeads(): Promise<Heads>;
  /** The canonical blocks of a range, both ends included, in order; short where the node ends. */
  readHeaders(range: { fromBlock: number; toBlock: number }): Promise<readonly BlockHeader[]>;
  /**
   * The fee proxies' logs from `fromBlock` on, in order, as far as one question reaches that the
   * provider bears, and at most to `toBlock`. `end` is the last block covered, read after the logs
   * and from the same node: its hash says of which chain they are. Blocks whose headers are given
   * are held against their blooms, and asked for again where logs may be missing.
   */
  readLogs(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly BlockHeader[];
  }): Promise<{ logs: readonly ProxyLog[]; end: BlockHeader }>;
  /** Receipts by transaction hash; one that is in no canonical block is left out. */
  readReceipts(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, TransactionReceipt>>;
  /** The nonce of a transaction, mined or waiting; undefined where the node does not know it. */
  readNonce(transactionHash: Hex): Promise<number | undefined>;
  /** How many transactions an address had sent by a block: the first nonce not yet used. */
  readUsedNonces(address: Hex, blockNumber: number): Promise<number>;
  /** A contract's code, `0x` where there is none. */
  readCode(address: Hex): Promise<Hex>;
  /** A read-only call at the latest block; undefined where it reverts. */
  call(to: Hex, data: Hex): Promise<Hex | undefined>;
  readChainId(): Promise<number>;
};

/** No provider of a chain could answer within the bounds; the message names no address. */
export class ChainUnreachableError extends Error {
  override readonly name = "ChainUnreachableError";
}
