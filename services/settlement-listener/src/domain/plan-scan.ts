/** What settles a payment: a block tag of the chain, or a number of blocks on top of its own. */
type Finality = "finalized" | "safe" | { blocks: number };

/** The chain settings that limit which blocks are read and trusted. */
export type ScanPolicy = {
  finality: Finality;
  /**
   * The number of newest blocks that are never read, because nodes behind one URL may lack them.
   */
  headLagBlocks: number;
  /** The depth at which a block is final if the chain has no `finalized` tag. */
  finalDepthBlocks: number;
};

/** How far a node's chain reaches. A tag that the chain or the node does not support is null. */
export type Heads = { latest: number; safe: number | null; finalized: number | null };

/** Block numbers up to which, inclusive, an action is allowed. */
export type BlockLimits = {
  /** Up to here, blocks may be scanned. */
  scanLimit: number;
  /** Up to here, payments settle. */
  settledBlock: number;
  /** Up to here, blocks never change. A chain that changes one is halted. */
  finalizedBlock: number;
};

/** The limits that decide how far a transfer is trusted. */
export type FinalityLimits = Pick<BlockLimits, "settledBlock" | "finalizedBlock">;

/**
 * Computes a chain's block limits from one node's heads. Each is at least 0 and at most
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
 * Returns how many providers must reach a head before it is trusted for reading. With three or more
 * providers it takes two, so that no single one misleads the scan. With two, the higher head is
 * trusted, because the other node may lag.
 */
const getRequiredProviderCount = (reportedHeads: readonly unknown[]): number =>
  reportedHeads.length > 2 ? 2 : 1;

/** Returns the newest block that is trusted to exist, by the heads of all providers. */
export const selectTrustedHead = (reportedHeads: readonly Heads[]): number =>
  nthHighest(
    getRequiredProviderCount(reportedHeads),
    reportedHeads.map(({ latest }) => latest),
  ) ?? 0;

/**
 * Computes the block limits from the heads of several providers. `readLimits` limits what may be
 * read and reported as seen. `agreedLimits` is what `quorum` providers confirm, each by its own
 * heads: -1 with fewer providers.
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
 * below the last scanned block if the chain became shorter. Blocks are read by kind:
 * - `final`: in wide ranges
 * - `fresh`: with headers, which are stored until they are final. Their blooms reveal logs that a
 *   node left out. The newest blocks are `fresh` even if the chain finalizes blocks immediately.
 * - `sparse`: in ranges up to the chain's head
 */
export type ScanPlan = { tip: number } & (
  | { kind: "none" }
  | { kind: "final" | "fresh" | "sparse"; fromBlock: number; toBlock: number }
);

/**
 * The maximum number of blocks that one step reads with headers. Headers beyond the range that a
 * provider accepts in one request would be read for nothing.
 */
export const freshBlocksMaxDefault = 100;

/** The maximum number of final ranges per step, after which the heads are read again. */
const finalRangesMax = 8;

/** Plans the next step of a chain that is scanned up to a block. */
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
