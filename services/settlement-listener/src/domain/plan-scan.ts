import { type Heads, freshBlocksMaxDefault } from "@payment-links/chains/chain-reader";
import type { ChainSettings } from "@payment-links/chains/chain-settings";

/** The chain settings that limit which blocks are read and trusted. */
type ScanPolicy = Pick<ChainSettings, "finality" | "headLagBlocks" | "finalDepthBlocks">;

/** The highest block numbers, inclusive, for each kind of action. */
export type BlockLimits = {
  /** The last block that may be scanned. */
  scanLimit: number;
  /** The last block whose payments may settle. */
  settledBlock: number;
  /** The last final block. If a chain changes a final block, the chain is halted. */
  finalizedBlock: number;
};

/** The limits that determine whether a transfer can settle or is final. */
export type FinalityLimits = Pick<BlockLimits, "settledBlock" | "finalizedBlock">;

/**
 * Computes block limits from the heads of one node. Each limit is at least 0 and at most
 * `scanLimit`.
 */
export const computeBlockLimits = (heads: Heads, policy: ScanPolicy): BlockLimits => {
  const { finality, headLagBlocks, finalDepthBlocks } = policy;
  const scanLimit = Math.max(heads.latest - headLagBlocks, 0);
  const clampToScanLimit = (blockNumber: number) => Math.min(Math.max(blockNumber, 0), scanLimit);
  const finalizedBlock = clampToScanLimit(heads.finalized ?? heads.latest - finalDepthBlocks);
  const computeSettledBlock = (): number => {
    if (finality === "finalized") return finalizedBlock;
    if (finality === "safe") return clampToScanLimit(heads.safe ?? finalizedBlock);
    return clampToScanLimit(heads.latest - finality.blocks);
  };
  return { scanLimit, settledBlock: computeSettledBlock(), finalizedBlock };
};

/** Returns the `count`-th highest number. Undefined if there are fewer than `count` numbers. */
const nthHighest = (count: number, numbers: readonly number[]): number | undefined =>
  numbers.toSorted((a, b) => b - a)[count - 1];

/**
 * Returns how many providers must have a head before it is used for reading. With three or more
 * providers it takes two, so that a single wrong provider cannot mislead the scan. With two
 * providers, the higher head is used, because the other node may lag.
 */
const getRequiredProviderCount = (reportedHeads: readonly unknown[]): number =>
  reportedHeads.length > 2 ? 2 : 1;

/** Returns the newest block that enough providers report. */
export const selectTrustedHead = (reportedHeads: readonly Heads[]): number =>
  nthHighest(
    getRequiredProviderCount(reportedHeads),
    reportedHeads.map(({ latest }) => latest),
  ) ?? 0;

/**
 * Computes block limits from the heads of several providers. `readLimits` applies to reading blocks
 * and to reporting payments as seen. `agreedLimits` contains the blocks that `quorum` providers
 * have reached, or -1 if fewer providers answered.
 */
export const computeSharedLimits = (
  reportedHeads: readonly Heads[],
  policy: ScanPolicy,
  quorum: number,
): { readLimits: BlockLimits; agreedLimits: FinalityLimits } => {
  const limitsByProvider = reportedHeads.map((heads) => computeBlockLimits(heads, policy));
  const reachedLimit = (count: number, limitName: keyof BlockLimits) =>
    nthHighest(
      count,
      limitsByProvider.map((providerLimits) => providerLimits[limitName]),
    ) ?? -1;
  const requiredCount = getRequiredProviderCount(reportedHeads);
  return {
    readLimits: {
      scanLimit: reachedLimit(requiredCount, "scanLimit"),
      settledBlock: reachedLimit(requiredCount, "settledBlock"),
      finalizedBlock: reachedLimit(requiredCount, "finalizedBlock"),
    },
    agreedLimits: {
      settledBlock: reachedLimit(quorum, "settledBlock"),
      finalizedBlock: reachedLimit(quorum, "finalizedBlock"),
    },
  };
};

/**
 * What to read next. `tip` is the scanned block whose hash is compared with the node's first. It is
 * below the last scanned block if the chain became shorter. Kinds of reads:
 * - `final`: wide ranges of final blocks
 * - `fresh`: new blocks with their headers, which are stored until they are final. The blooms in
 *   the headers reveal logs that a node left out. The newest blocks are always `fresh`, even if the
 *   chain finalizes blocks immediately.
 * - `sparse`: ranges up to the chain's head, without headers
 */
export type ScanPlan = { tip: number } & (
  | { kind: "none" }
  | { kind: "final" | "fresh" | "sparse"; fromBlock: number; toBlock: number }
);

/** The maximum number of final ranges per step, after which the heads are read again. */
const finalRangesMax = 8;

/** Plans the next step for a chain that has been scanned up to `scannedTo`. */
export const planScan = (
  scannedTo: number,
  limits: BlockLimits,
  {
    freshBlocksMax = freshBlocksMaxDefault,
    isSparse = false,
    rangeBlocksMax,
  }: { freshBlocksMax?: number | undefined; isSparse?: boolean; rangeBlocksMax: number },
): ScanPlan => {
  const tip = Math.min(scannedTo, limits.scanLimit);
  if (limits.scanLimit <= scannedTo) return { kind: "none", tip };
  const fromBlock = scannedTo + 1;
  const rangesEndBlock = scannedTo + finalRangesMax * rangeBlocksMax;
  if (isSparse)
    return { kind: "sparse", tip, fromBlock, toBlock: Math.min(limits.scanLimit, rangesEndBlock) };
  if (limits.finalizedBlock > scannedTo + freshBlocksMax) {
    return {
      kind: "final",
      tip,
      fromBlock,
      toBlock: Math.min(limits.finalizedBlock, rangesEndBlock),
    };
  }
  return {
    kind: "fresh",
    tip,
    fromBlock,
    toBlock: Math.min(limits.scanLimit, scannedTo + freshBlocksMax),
  };
};
