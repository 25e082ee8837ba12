import type { Decimal } from "@payment-links/contracts";

/** The watch settings of one chain. */
export type ChainSettings = {
  /**
   * When a payment settles: at a block tag of the chain, or after a number of blocks on top of its
   * own.
   */
  finality: "finalized" | "safe" | { blocks: number };
  /**
   * The number of newest blocks that are not read yet, because some of the nodes behind one URL may
   * lack them.
   */
  headLagBlocks: number;
  /** The depth at which a block is final if the chain has no `finalized` tag. */
  finalDepthBlocks: number;
  /** The maximum number of blocks per request for payments. */
  rangeBlocksMax: number;
  /** How long to wait between polls for new blocks, in milliseconds. */
  pollMs: number;
  /**
   * Whether the chain can restart from its first block while the service is stopped. In that case,
   * its stored blocks and transfers are deleted.
   */
  isDisposable: boolean;
  /** The chain's first block. After a restart of the chain, reading begins there. Defaults to 0. */
  firstBlock?: number;
  /**
   * Whether new blocks are read in ranges like final blocks, and only the last block of each range
   * is stored. For chains that have several blocks per second, or whose block numbers have gaps.
   */
  isSparse?: boolean;
  /**
   * Extra confirmations for large payments: the number of blocks on top of its own that a payment
   * needs from an amount on, if that is more than `finality` requires. Bitcoin only.
   */
  finalityByAmount?: readonly { from: Decimal; blocks: number }[];
  /**
   * Whether transfers to unknown links are not stored. They are found later by reading the
   * transaction again. Bitcoin only.
   */
  storesKnownLinksOnly?: boolean;
  /** The number of final blocks that must accumulate before the audit reads them. Defaults to 1. */
  auditBlocksMin?: number;
  /** Whether to detect transfers without a reference (deposits). Defaults to false. */
  findsDeposits?: boolean;
  /** The minimum amounts from which deposits are reported, by token address. */
  depositMinimums?: Readonly<Record<string, Decimal>>;
};

/** The settings of a chain that an operator can override (`CHAINS_FILE`). */
export type ChainOverride = Partial<ChainSettings>;
