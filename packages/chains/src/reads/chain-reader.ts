import type { Decimal } from "@payment-links/contracts";

/** A node's newest blocks. A tag is null if the chain or the node does not support it. */
export type Heads = { latest: number; safe: number | null; finalized: number | null };

/** The block header fields that every chain family has. */
export type BlockHeader = {
  number: number;
  hash: string;
  parentHash: string;
  /** The block's own timestamp in Unix seconds. It determines whether a payment is in time. */
  timestampSeconds: number;
};

/**
 * A transaction that may contain a payment, and its block. Only the receipt can prove the payment.
 */
export type TransactionPointer = {
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  /**
   * The block's time in Unix seconds, if the node returns it here, which saves a request for it.
   */
  timestampSeconds?: number;
};

/**
 * A payment or deposit that a receipt proves. Addresses are in the chain family's format. `amount`
 * is in whole tokens, not base units.
 */
export type VerifiedTransfer = {
  /** For a deposit, the result of `deriveDepositReference`. */
  referenceHash: string;
  /**
   * The index among the receipt's payments with the same reference, starting at 0. A position in
   * the block or the receipt would not work, because a reorg can change it. On Bitcoin it cannot
   * change, so `ordinal` is the index of the output.
   */
  ordinal: number;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  /** The sender according to the token. Undefined if the chain reports none, as on Bitcoin. */
  payer?: string;
  /**
   * Set for a deposit, which is a transfer of a catalogue token to an owner's address (`Owners`)
   * without a payment in the same receipt.
   */
  isDeposit?: true;
};

/** A transaction's result in the canonical block that contains it, according to one node. */
export type TransactionReceipt = {
  transactionHash: string;
  blockNumber: number;
  blockHash: string;
  /**
   * The block's time in Unix seconds, if the node returns it here, which saves a request for it.
   */
  timestampSeconds?: number;
  /** The sender's address; see {@link Sender}. */
  sender: string;
  transfers: readonly VerifiedTransfer[];
  /**
   * What the node returned. Two providers must return the same evidence before a payment settles.
   */
  evidence: unknown;
};

/**
 * A transaction in the mempool, with the payments that it would make. The money does not count
 * until it is mined.
 */
export type UnconfirmedTransaction = {
  transactionHash: string;
  sender: Sender;
  transfers: readonly VerifiedTransfer[];
};

/** A transaction and the block in which it was last seen. */
export type SeenTransaction = { transactionHash: string; blockNumber: number; blockHash: string };

/** A range of blocks. Both ends are inclusive. */
export type BlockRange = { fromBlock: number; toBlock: number };

/**
 * The sender and nonce of a transaction. The chain mines at most one transaction per sender and
 * nonce. Chain families without nonces use a substitute with this property.
 */
export type Sender = { address: string; nonce: number };

/**
 * The interface for reading a chain, which each chain family implements. Every call tries all
 * providers within a time limit, and throws {@link ChainUnreachableError} if none of them can
 * answer. Nothing is cached.
 */
export type ChainReader<Header extends BlockHeader = BlockHeader> = {
  readHeads(): Promise<Heads>;
  /**
   * Returns the headers of the canonical blocks in a range, in ascending order. Returns fewer if
   * the node's chain ends before `toBlock`.
   */
  readHeaders(range: { fromBlock: number; toBlock: number }): Promise<readonly Header[]>;
  /**
   * Returns the transactions from `fromBlock` on that may contain payments or deposits, in order.
   * Covers as many blocks as the provider accepts in one request, up to `toBlock`.
   * - `endHeader` is the last covered block. It is read after the pointers, from the same node, and
   *   its hash identifies the fork.
   * - If `headers` are given, the result is compared with them, and the request is repeated if logs
   *   may be missing.
   * - `providerId` identifies the provider that answered.
   */
  readPointers(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly Header[];
    /**
     * True for the audit, which must get everything in this request. Other reads can defer some
     * transactions to a later one.
     */
    isAudit?: boolean;
  }): Promise<{ pointers: readonly TransactionPointer[]; endHeader: Header; providerId: string }>;
  /**
   * Returns how many blocks to read with headers in one step. Chain families implement it if a
   * request for pointers has a high fixed cost. The default is {@link freshBlocksMaxDefault}.
   */
  freshBlocksMax?(): number;
  /**
   * Returns receipts by transaction hash. Leaves out transactions that are in no canonical block.
   */
  readReceipts(hashes: readonly string[]): Promise<ReadonlyMap<string, TransactionReceipt>>;
  /**
   * Returns the hashes of the transactions that are in no canonical block of a range. Leaves out a
   * transaction if the node cannot prove its absence, because the node lags or has pruned part of
   * the range. Also leaves out a transaction that is still in the block where it was last seen.
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
  /**
   * Returns how many nonces a sender had used at a block. This number is also the first unused
   * nonce.
   */
  readUsedNonces(address: string, blockNumber: number): Promise<number>;
  /**
   * Returns the mempool transactions of one node that pay links. Each call reads a limited number
   * of transactions, because a mempool can be large. `unreadCount` is the number of remaining ones.
   * `unreadableHashes` has the transactions for which no valid response was received. They are
   * requested again after a delay. Only chain families that report payments before they are mined
   * implement it, together with `findKnown`.
   */
  readMempool?(): Promise<{
    transactions: readonly UnconfirmedTransaction[];
    unreadCount: number;
    unreadableHashes: readonly string[];
  }>;
  /**
   * Returns which transactions are in the mempool or in a canonical block of a node. `unreadable`
   * has those for which no valid response was received, so they can be in either.
   */
  findKnown?(hashes: readonly string[]): Promise<{
    known: ReadonlySet<string>;
    unreadable: ReadonlySet<string>;
  }>;
};

/** A reader for a single provider of a chain. Every request goes to that provider. */
export type Verifier<Reader = ChainReader> = {
  /**
   * Identifies the provider permanently, independently of its position in the configuration. Does
   * not reveal the URL.
   */
  id: string;
  reader: Reader;
};

/** The readers of one chain and the controls over its providers. */
export type ChainReaders<Reader = ChainReader> = {
  /** Reads from the first provider that answers. */
  reader: Reader;
  /** One reader per provider, in configuration order. */
  verifiers: readonly Verifier<Reader>[];
  /** From now on, `reader` considers a node that has not reached this block to be lagging. */
  expectHead: (head: number) => void;
  /**
   * Makes `reader` ask these providers last for a while. Without ids, it demotes the provider that
   * is asked first.
   */
  demote: (providerIds?: readonly string[]) => void;
  /**
   * Returns a reader for one provider that works even while the provider is ignored. The catalogue
   * check uses it to decide whether to use the provider again.
   */
  getProviderReader: (providerId: string) => Reader;
  /**
   * Ignores exactly these providers until the next call. `reader` skips them. Their verifiers throw
   * {@link ChainUnreachableError}, so they have no vote.
   */
  ignoreProviders: (providerIds: readonly string[]) => void;
  /** Aborts the requests in progress, which then throw `ChainUnreachableError`. */
  close: () => void;
};

/**
 * The maximum number of blocks that one step reads with headers. Reading more headers than a
 * provider accepts in one request for logs would be wasteful.
 */
export const freshBlocksMaxDefault = 100;

/** Returns the name of a provider in logs and metrics, by its position in the configuration. */
export const formatProviderName = (index: number): string => `rpc-${index + 1}`;

/** No provider of a chain could answer within the time limit. The message contains no URL. */
export class ChainUnreachableError extends Error {
  override readonly name = "ChainUnreachableError";
}
