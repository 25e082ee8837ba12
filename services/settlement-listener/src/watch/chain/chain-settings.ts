import type { Decimal } from "@payment-links/contracts";
import type { ScanPolicy } from "../../domain/plan-scan.ts";

/** The watch settings of one chain. */
export type ChainSettings = ScanPolicy & {
  /** The maximum number of blocks per request for payments. */
  rangeBlocksMax: number;
  /** How long to wait for new blocks. */
  pollMs: number;
  /**
   * Whether the chain may restart from its first block between two starts. Its stored blocks and
   * transfers are deleted then.
   */
  isDisposable: boolean;
  /** The chain's first block, where reading a restarted chain begins. Defaults to 0. */
  firstBlock?: number;
  /**
   * Whether new blocks are read in ranges, as final blocks are, and only the last block of each
   * range is stored. For chains with several blocks per second, or with numbers that have no block.
   */
  isSparse?: boolean;
  /**
   * The number of blocks on top of its own that a payment needs from certain amounts on, if that
   * exceeds `finality`. Bitcoin only.
   */
  finalityByAmount?: readonly { from: Decimal; blocks: number }[];
  /**
   * Whether transfers to unknown links are not stored, and so never claimed later. Reading the
   * transaction again finds them. Bitcoin only.
   */
  storesKnownLinksOnly?: boolean;
  /**
   * The number of new final blocks that the audit waits for before it reads them. Defaults to 1.
   */
  auditBlocksMin?: number;
  /** Whether the watch looks for transfers without a reference. Defaults to false. */
  findsDeposits?: boolean;
  /** The minimum amounts of deposits that are reported, by token address. */
  depositMinimums?: Readonly<Record<string, Decimal>>;
};

/** The settings of a chain that an operator can override (`CHAINS_FILE`). */
export type ChainOverride = Partial<ChainSettings>;
