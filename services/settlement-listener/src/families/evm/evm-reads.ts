import type { Hex } from "viem";
import type { BlockHeader, ChainReader } from "../../watch/chain-reader.ts";
import type { EventLog } from "./decode-event.ts";

/** A header of an EVM node. */
export type EvmHeader = BlockHeader & {
  hash: Hex;
  parentHash: Hex;
  logsBloom: Hex;
  /** The id of the provider that returned it. Set by `readHeaders`. */
  providerId?: string;
};

/**
 * A log of a configured fee proxy, or a token's transfer to an owner, and its position. It is only
 * a pointer to a receipt.
 */
export type ProxyLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** The block's time in Unix seconds, if the node returns it with the log. Saves a request. */
  timestampSeconds?: number;
};

/** The result of a transaction in the block that a node considers canonical. */
export type EvmReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** The logs of the chain's proxies and tokens, in their order. */
  logs: readonly EventLog[];
  /** SHA-256 of all other logs. Two providers must return the same receipt. */
  otherLogsDigest: string;
};

/** A transaction's call: the contract, null for a contract creation, and the lowercase calldata. */
export type TransactionCall = { to: Hex | null; input: Hex };

/**
 * A contract request. With `data`, it returns the result of a read-only call, or undefined if it
 * reverts. Without `data`, it returns the contract's code, `0x` if there is none.
 */
export type ContractRequest = { address: Hex; data?: Hex };

/** The reads of EVM nodes. Each call ends within the limits that `ChainReader` documents. */
export type EvmReads = Pick<
  ChainReader<EvmHeader>,
  "readAbsent" | "readHeads" | "readHeaders" | "readUsedNonces"
> & {
  /**
   * Returns the fee proxies' logs, and tokens' transfers to owners, from `fromBlock` on, in order.
   * Covers as many blocks as the provider accepts in one request, at most up to `toBlock`.
   * `endHeader` is the last covered block, read after the logs from the same node; its hash
   * identifies the fork. If `headers` are given, checks their blooms and repeats the request if
   * logs may be missing. Only headers from the same provider may show that a request is
   * unnecessary. `providerId` identifies the provider that answered.
   */
  readLogs(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly EvmHeader[];
  }): Promise<{ logs: readonly ProxyLog[]; endHeader: EvmHeader; providerId: string }>;
  /**
   * Returns receipts by transaction hash. Leaves out transactions that are in no canonical block.
   */
  readReceipts(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, EvmReceipt>>;
  /** Returns the calls of transactions by hash. Throws if no node knows one of them. */
  readCalls(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, TransactionCall>>;
  /**
   * Returns the senders and nonces of transactions, mined or pending. Leaves out transactions that
   * the node does not know.
   */
  readSenders(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, { address: Hex; nonce: number }>>;
  /** Returns results in the order of the requests, from one provider at the latest block. */
  queryContracts(requests: readonly ContractRequest[]): Promise<readonly (Hex | undefined)[]>;
  /** Returns the decimal id of the chain that the first provider serves. */
  readChain(): Promise<string>;
};
