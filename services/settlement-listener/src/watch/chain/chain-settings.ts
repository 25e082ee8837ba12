import type { Decimal } from "@payment-links/contracts";
import type { ScanPolicy } from "../../domain/plan-scan.ts";

/** How one chain is watched. */
export type ChainSettings = ScanPolicy & {
  /** The most blocks that one question for payments covers. */
  rangeBlocksMax: number;
  /** How long to wait for new blocks. */
  pollMs: number;
  /** Whether the chain may begin anew between two starts; what was seen of it is forgotten then. */
  isDisposable: boolean;
  /** Its first block, from which on a chain that has begun anew is read; 0 if not given. */
  firstBlock?: number;
  /**
   * Whether fresh blocks are read by ranges as final ones are, and only the last of each is kept: on a
   * chain with several blocks in a second, or numbers without a block.
   */
  isSparse?: boolean;
  /**
   * So many blocks on top of its own a payment of such an amount or more needs, where that is more than
   * `finality` says. Of Bitcoin alone.
   */
  finalityByAmount?: readonly { from: Decimal; blocks: number }[];
  /**
   * Whether a transfer to a link that nobody has heard of is not stored, and so never claimed: a look
   * into its transaction again finds it. Of Bitcoin alone.
   */
  storesKnownLinksOnly?: boolean;
  /** So many final blocks are read a second time at once; 1 if not given. */
  auditBlocksMin?: number;
  /** Whether transfers without a reference are looked for; they are not unless it is true. */
  findsDeposits?: boolean;
  /** The least amounts of deposits that show, by the tokens' addresses. */
  depositMinimums?: Readonly<Record<string, Decimal>>;
};

/** What an operator may set for a chain (`CHAINS_FILE`). */
export type ChainOverride = Partial<ChainSettings>;
