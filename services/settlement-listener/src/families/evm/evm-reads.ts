import type { Hex } from "viem";
import type { BlockHeader, ChainReader } from "../../watch/chain-reader.ts";
import type { EventLog } from "./decode-event.ts";

/** A header as EVM nodes tell it. */
export type EvmHeader = BlockHeader & {
  hash: Hex;
  parentHash: Hex;
  logsBloom: Hex;
  /** The id of the provider that told it, where `readHeaders` asked for it. */
  providerId?: string;
};

/** A log of a configured fee proxy, or a token's transfer to an owner, and where it stands. It only points to a receipt. */
export type ProxyLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** Its block's Unix seconds, if the node gives them with the log; that saves a question. */
  timestampSeconds?: number;
};

/** What became of a transaction, in the block that a node holds to be canonical. */
export type EvmReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** Those of the chain's proxies and tokens, in their order. */
  logs: readonly EventLog[];
  /** SHA-256 of all other logs: two providers must show the same receipt. */
  otherLogsDigest: string;
};

/** What a transaction calls: a contract (none where it makes one), with lowercase calldata. */
export type TransactionCall = { to: Hex | null; input: Hex };

/**
 * What is asked of a contract: with `data`, what a read-only call answers, undefined where it reverts;
 * else its code, `0x` where there is none.
 */
export type ContractRequest = { address: Hex; data?: Hex };

/** What is asked of EVM nodes; each call ends within the bounds that `ChainReader` tells. */
export type EvmReads = Pick<
  ChainReader<EvmHeader>,
  "readAbsent" | "readHeads" | "readHeaders" | "readUsedNonces"
> & {
  /**
   * The fee proxies' logs, and tokens' transfers to owners, from `fromBlock` on, in order: as far as the provider bears in one
   * question, and at most to `toBlock`. `end` is the last block covered, read after the logs and
   * from the same node; its hash shows which chain they belong to. Blocks whose headers are given
   * are checked against their blooms, and asked for again if logs may be missing; only where the same
   * provider told them do they tell what need not be asked for. `providerId` is the id of the provider.
   */
  readLogs(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly EvmHeader[];
  }): Promise<{ logs: readonly ProxyLog[]; endHeader: EvmHeader; providerId: string }>;
  /** Receipts by transaction hash; one that is in no canonical block is left out. */
  readReceipts(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, EvmReceipt>>;
  /** What transactions call, by their hash. Throws where no node knows one of them. */
  readCalls(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, TransactionCall>>;
  /**
   * Who sent transactions, mined or pending, and with which nonce; one that the node does not know is
   * left out.
   */
  readSenders(hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, { address: Hex; nonce: number }>>;
  /** Answers in the order of the questions, as one provider gives them at the latest block. */
  queryContracts(requests: readonly ContractRequest[]): Promise<readonly (Hex | undefined)[]>;
  /** Which chain the providers say they serve: its decimal id. */
  readChain(): Promise<string>;
};
