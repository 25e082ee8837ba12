import type { Hex } from "viem";
import type { BlockHeader, ChainReader } from "../../watch/chain-reader.ts";
import type { EventLog } from "./decode-event.ts";

/** A header of an EVM node. */
export type EvmHeader = BlockHeader & {
  hash: Hex;
  parentHash: Hex;
  logsBloom: Hex;
  /** The id of the provider that returned the header. `readHeaders` sets it. */
  providerId?: string;
};

/**
 * A log of a configured fee proxy or of a token's transfer to an owner, with its position. It only
 * points to a receipt and proves nothing itself.
 */
export type ProxyLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** The block's time in Unix seconds, if the node returns it with the log. It saves a request. */
  timestampSeconds?: number;
};

/** The result of a transaction in the block that a node considers canonical. */
export type EvmReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** The logs of the chain's proxies and tokens, in the order of the receipt. */
  logs: readonly EventLog[];
  /**
   * The SHA-256 digest of all other logs. Two providers must return the same receipt, including
   * these logs.
   */
  otherLogsDigest: string;
};

/**
 * The call of a transaction. `to` is the contract, or null for a contract creation, and `input` is
 * the calldata in lowercase.
 */
export type TransactionCall = { to: Hex | null; input: Hex };

/**
 * A request to a contract. With `data`, it returns the result of a read-only call, or undefined if
 * the call reverts. Without `data`, it returns the contract's code, which is `0x` if there is none.
 */
export type ContractRequest = { address: Hex; data?: Hex };

/**
 * The reads of EVM nodes. Each call finishes within the time limits that `ChainReader` documents.
 */
export type EvmReads = Pick<
  ChainReader<EvmHeader>,
  "readAbsent" | "readHeads" | "readHeaders" | "readUsedNonces"
> & {
  /**
   * Returns the fee proxies' logs and the tokens' transfers to owners from `fromBlock` on, in
   * order. Covers as many blocks as the provider accepts in one request, but does not go beyond
   * `toBlock`. `endHeader` is the last covered block. The same node returns it after the logs, and
   * its hash identifies the fork. If `headers` are given, the logs are checked against their
   * blooms, and blocks whose logs may be missing are requested again. A request is skipped only if
   * headers from the same provider show that it is unnecessary. `providerId` identifies the
   * provider that answered.
   */
  readLogs(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly EvmHeader[];
  }): Promise<{ logs: readonly ProxyLog[]; endHeader: EvmHeader; providerId: string }>;
  /**
   * Returns receipts by transaction hash. Leaves out transactions that are not in a canonical
   * block.
   */
  readReceipts(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, EvmReceipt>>;
  /** Returns the calls of transactions by hash. Throws if no node knows one of them. */
  readCalls(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, TransactionCall>>;
  /**
   * Returns the senders and nonces of transactions, both mined and pending. Leaves out transactions
   * that the node does not know.
   */
  readSenders(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, { address: Hex; nonce: number }>>;
  /**
   * Returns the results in the order of the requests. One provider answers all of them at the
   * latest block.
   */
  queryContracts(requests: readonly ContractRequest[]): Promise<readonly (Hex | undefined)[]>;
  /** Returns the decimal id of the chain that the first provider serves. */
  readChain(): Promise<string>;
};
