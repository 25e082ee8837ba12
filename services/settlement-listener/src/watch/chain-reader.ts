import type { Decimal } from "@payment-links/contracts";
import type { Heads } from "../domain/plan-scan.ts";

/** The block header fields that every chain family has. */
export type BlockHeader = {
  number: number;
  hash: string;
  parentHash: string;
  /** Unix seconds, by the chain's own clock. It decides whether a payment is early or late. */
  timestampSeconds: number;
};

/**
 * A transaction that may pay a link, and its block. It proves nothing by itself; the receipt does.
 */
export type TransactionPointer = {
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  /** The block's time in Unix seconds, if the node returns it here. Saves a request. */
  timestampSeconds?: number;
};

/**
 * A payment or deposit that a receipt proves. Addresses are in the chain family's format; `amount`
 * is in whole tokens, not base units.
 */
export type VerifiedTransfer = {
  /** For a deposit, the result of `deriveDepositReference`. */
  referenceHash: string;
  /**
   * Its index among the receipt's payments with the same reference, starting at 0. It does not
   * depend on the position in the block or in the receipt, because a reorg may change both. On
   * Bitcoin the position cannot change, so `ordinal` is the output's index.
   */
  ordinal: number;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  /**
   * Marks a deposit: a transfer of a catalogue token to an owner's address (`Owners`) that belongs
   * to no payment in the receipt. Holds the sender according to the token.
   */
  payer?: string;
};

/** The result of a transaction in the block that a node considers canonical. */
export type TransactionReceipt = {
  transactionHash: string;
  blockNumber: number;
  blockHash: string;
  /** The block's time in Unix seconds, if the node returns it here. Saves a request. */
  timestampSeconds?: number;
  /** The sender's address; see {@link Sender}. */
  sender: string;
  transfers: readonly VerifiedTransfer[];
  /** What the node returned. Two providers must return the same before it moves money. */
  evidence: unknown;
};

/** A transaction in the mempool and what it would pay. It counts as no money yet. */
export type UnconfirmedTransaction = {
  transactionHash: string;
  sender: Sender;
  transfers: readonly VerifiedTransfer[];
};

/** A transaction and the block in which it was last seen. */
export type SeenTransaction = { transactionHash: string; blockNumber: number; blockHash: string };

/** Both ends are inclusive. */
export type BlockRange = { fromBlock: number; toBlock: number };

/**
 * The sender and nonce of a transaction. The chain mines at most one transaction per sender and
 * nonce. Chain families without nonces use a substitute with the same property.
 */
export type Sender = {
  address: string;
  nonce: number;
  /**
   * The node knows the transaction only from an orphaned block: it is neither in a canonical block
   * nor in the mempool.
   */
  isOrphaned?: true;
};

/**
 * Reads one chain. Each chain family implements it. Every call tries all providers within a time
 * limit, and throws {@link ChainUnreachableError} if none of them can answer. Nothing is cached.
 */
export type ChainReader<Header extends BlockHeader = BlockHeader> = {
  readHeads(): Promise<Heads>;
  /**
   * Returns the canonical blocks of a range in order, both ends inclusive. Returns fewer if the
   * node's chain ends before `toBlock`.
   */
  readHeaders(range: { fromBlock: number; toBlock: number }): Promise<readonly Header[]>;
  /**
   * Returns transactions that may be payments or deposits from `fromBlock` on, in order. Covers as
   * many blocks as the provider accepts in one request, at most up to `toBlock`. `endHeader` is the
   * last covered block, read after the pointers from the same node; its hash identifies the fork.
   * If `headers` are given, compares them with the response and repeats the request if logs may be
   * missing. `providerId` identifies the provider that answered.
   */
  readPointers(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly Header[];
    /** The audit must not defer anything to a later request. */
    isAudit?: boolean;
  }): Promise<{ pointers: readonly TransactionPointer[]; endHeader: Header; providerId: string }>;
  /**
   * Returns how many blocks to read with headers in one step. Set where a request for pointers has
   * a high fixed cost. `planScan` has the default.
   */
  freshBlocksMax?(): number;
  /**
   * Returns receipts by transaction hash. Leaves out transactions that are in no canonical block.
   */
  readReceipts(hashes: readonly string[]): Promise<ReadonlyMap<string, TransactionReceipt>>;
  /**
   * Returns the hashes of the transactions that are in no canonical block of a range. Leaves out
   * transactions whose absence the node cannot prove, because it lags behind the range or has
   * pruned part of it. Also leaves out a transaction that is still in the block where it was last
   * seen.
   */
  readAbsent(
    seenTransactions: readonly SeenTransaction[],
    range: BlockRange,
  ): Promise<ReadonlySet<string>>;
  /**
   * Returns the senders and nonces of transactions, mined or pending. Leaves out transactions that
   * the node does not know.
   */
  readSenders(hashes: readonly string[]): Promise<ReadonlyMap<string, Sender>>;
  /** Returns how many nonces a sender had used by a block, which is the first unused nonce. */
  readUsedNonces(address: string, blockNumber: number): Promise<number>;
  /**
   * Returns mempool transactions that pay links, as one node knows them. `unreadCount` is the
   * number of mempool transactions not yet read: a mempool can be large, so each call reads a
   * limited number. Only chain families that show payments before they are mined implement it.
   */
  readMempool?(): Promise<{ transactions: readonly UnconfirmedTransaction[]; unreadCount: number }>;
};

/** A chain as one provider shows it. Every request goes to that provider only. */
export type Verifier<Reader = ChainReader> = {
  /**
   * Identifies the provider permanently, whatever its position in the configuration. Reveals
   * nothing about its URL.
   */
  id: string;
  reader: Reader;
};

/** The readers of one chain, over all its providers. */
export type ChainReaders<Reader = ChainReader> = {
  /** Uses the first provider that answers. */
  reader: Reader;
  /** One reader per provider, in configuration order. */
  verifiers: readonly Verifier<Reader>[];
  /**
   * Asks each provider for its heads. Returns them by provider id. Afterwards `reader` treats a
   * node that has not reached these heads as lagging.
   */
  readHeadsByProvider: () => Promise<ReadonlyMap<string, Heads>>;
  /**
   * Makes `reader` ask these providers last for a while. Without ids, it demotes the provider that
   * is asked first.
   */
  demote: (providerIds?: readonly string[]) => void;
  /**
   * Returns a reader for one provider that works even while the provider is ignored. The catalogue
   * check uses it to decide whether the provider may be used again.
   */
  getProviderReader: (providerId: string) => Reader;
  /**
   * Stops requests to exactly these providers until the next call. `reader` skips them, and their
   * verifiers throw {@link ChainUnreachableError}, so they have no vote.
   */
  ignoreProviders: (providerIds: readonly string[]) => void;
  /** Aborts requests in progress; they throw `ChainUnreachableError`. */
  close: () => void;
};

/** No provider of a chain could answer within the limits. The message contains no URL. */
export class ChainUnreachableError extends Error {
  override readonly name = "ChainUnreachableError";
}
