import type { Decimal } from "@payment-links/contracts";
import type { Heads } from "../domain/plan-scan.ts";

/** The parts of a block's header that every family has. */
export type BlockHeader = {
  number: number;
  hash: string;
  parentHash: string;
  /** Unix seconds: the chain's own time, by which a payment is early or late. */
  timestampSeconds: number;
};

/** A transaction that may pay a link, and where it stands. It proves nothing: its receipt does. */
export type TransactionPointer = {
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  /** Its block's Unix seconds, if the node gives them with it; that saves a question. */
  timestampSeconds?: number;
};

/** A payment, or a deposit, as a receipt proves it: addresses in the family's own form, the amount in the token's unit. */
export type VerifiedTransfer = {
  /** Of a deposit what `deriveDepositReference` says. */
  referenceHash: string;
  /**
   * Its number among the payments of its reference in the receipt, 0 for the first. Its place in the
   * block, or among all that the transaction did, may change when it is mined again: only where it
   * cannot, as on Bitcoin, is it that place.
   */
  ordinal: number;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
  /**
   * Makes it a deposit: a transfer of a catalogue token to an owner's address (`Owners`), of which no
   * payment of the receipt is made. Who sent it, as the token tells.
   */
  payer?: string;
};

/** What became of a transaction, in the block that a node holds to be canonical. */
export type TransactionReceipt = {
  transactionHash: string;
  blockNumber: number;
  blockHash: string;
  /** Its block's Unix seconds, if the node gives them with it; that saves a question. */
  timestampSeconds?: number;
  /** As {@link Sender} names it. */
  sender: string;
  transfers: readonly VerifiedTransfer[];
  /** What the node said, of which two providers must say the same before money is moved by it. */
  evidence: unknown;
};

/** A transaction that waits to be mined, and what it would pay. It is no money yet. */
export type UnconfirmedTransaction = {
  transactionHash: string;
  sender: Sender;
  transfers: readonly VerifiedTransfer[];
};

/** A transaction and the block in which it was seen last. */
export type SeenTransaction = { transactionHash: string; blockNumber: number; blockHash: string };

/** Both ends are included. */
export type BlockRange = { fromBlock: number; toBlock: number };

/**
 * Whose transaction it is, and its number: at most one transaction of a sender and nonce is ever
 * mined. A family without such numbers finds others that behave so.
 */
export type Sender = {
  address: string;
  nonce: number;
  /** The node has it of a block that lost, and nowhere else: it neither stands in a block nor waits for one. */
  isOrphaned?: true;
};

/**
 * Reads one chain: all that a family has to say of it. Every call ends within a bound, over as many
 * providers as there are, and throws {@link ChainUnreachableError} once none can answer. Nothing is
 * cached.
 */
export type ChainReader<Header extends BlockHeader = BlockHeader> = {
  readHeads(): Promise<Heads>;
  /**
   * The canonical blocks of a range, both ends included, in order; fewer if the node's chain ends
   * before.
   */
  readHeaders(range: { fromBlock: number; toBlock: number }): Promise<readonly Header[]>;
  /**
   * What may pay links, and may be deposits, from `fromBlock` on, in order: as far as the provider bears in one question,
   * and at most to `toBlock`. `end` is the last block covered, read after the pointers and from the
   * same node; its hash shows which chain they belong to. Where headers are given, what they tell of
   * their blocks is held against the answer, and asked for again if something may be missing.
   * `providerId` is the id of the provider.
   */
  readPointers(range: {
    fromBlock: number;
    toBlock: number;
    headers?: readonly Header[];
    /** In the second pass nothing may be left to a later question. */
    isAudit?: boolean;
  }): Promise<{ pointers: readonly TransactionPointer[]; endHeader: Header; providerId: string }>;
  /**
   * How many blocks are best read with their headers in one step, as a question for their pointers costs
   * so much whatever they hold; as `planScan` says where it is left out.
   */
  freshBlocksMax?(): number;
  /** Receipts by transaction hash; one that is in no canonical block is left out. */
  readReceipts(hashes: readonly string[]): Promise<ReadonlyMap<string, TransactionReceipt>>;
  /**
   * Returns the hashes of the transactions that are in no canonical block of a range. A node that lacks
   * a part of the range, because it lags or has pruned it, proves nothing: its transactions are left
   * out. So is a transaction that the block in which it was seen still holds.
   */
  readAbsent(
    seenTransactions: readonly SeenTransaction[],
    range: BlockRange,
  ): Promise<ReadonlySet<string>>;
  /**
   * Who sent transactions, mined or pending, and with which nonce; one that the node does not know is
   * left out.
   */
  readSenders(hashes: readonly string[]): Promise<ReadonlyMap<string, Sender>>;
  /** How many nonces a sender had used by a block: the first one not yet used. */
  readUsedNonces(address: string, blockNumber: number): Promise<number>;
  /**
   * What waits to be mined and pays links, as far as one node knows it, and how many of the node's waiting
   * transactions were not read so far: there may be very many, and each call reads so many of them.
   * Only of a family that shows payments before a block holds them.
   */
  readMempool?(): Promise<{ transactions: readonly UnconfirmedTransaction[]; unreadCount: number }>;
};

/** A chain as one of its providers shows it: each question is put to that one alone. */
export type Verifier<Reader = ChainReader> = {
  /**
   * Tells the provider from others for ever, wherever it stands in the configuration, and reveals
   * nothing of its address.
   */
  id: string;
  reader: Reader;
};

/** A chain's readers over all its providers. */
export type ChainReaders<Reader = ChainReader> = {
  /** Asks whichever provider answers first. */
  reader: Reader;
  /** Each provider alone, in the order of the configuration. */
  verifiers: readonly Verifier<Reader>[];
  /**
   * Asks each provider how far the chain is; answers what each told, by its id. `reader` then takes a
   * node that has not come so far for one that is behind.
   */
  readHeadsByProvider: () => Promise<ReadonlyMap<string, Heads>>;
  /** Has `reader` ask these providers last for a while; the one that it asks first if none is named. */
  demote: (providerIds?: readonly string[]) => void;
  /**
   * Returns what asks one provider alone, even while it is ignored: the check against the catalogue decides
   * by it whether the provider is used again.
   */
  getProviderReader: (providerId: string) => Reader;
  /**
   * Stops asking these providers, and no others, until the next call: `reader` leaves them out, and their
   * witnesses throw {@link ChainUnreachableError}, so that they have no vote.
   */
  ignoreProviders: (providerIds: readonly string[]) => void;
  /** Ends what is under way: its calls throw `ChainUnreachableError`. */
  close: () => void;
};

/** No provider of a chain could answer within the bounds; the message names no address. */
export class ChainUnreachableError extends Error {
  override readonly name = "ChainUnreachableError";
}
