/** By which a payment is settled: a tag of the chain, or so many blocks on top of its own. */
type Finality = "finalized" | "safe" | { blocks: number };

/** What of a chain's settings says how far may be read and believed. */
export type ScanPolicy = {
  finality: Finality;
  /** The newest blocks that are never read, as nodes behind the same address may lack them. */
  headLagBlocks: number;
  /** The depth at which a block is final where the chain has no finalized tag. */
  finalDepthBlocks: number;
};

/** How far a node has come; a tag that the chain or the node does not know is null. */
export type Heads = { latest: number; safe: number | null; finalized: number | null };

/** Block numbers up to which, both of them included, something may be done. */
export type BlockLimits = {
  /** May be scanned. */
  scanLimit: number;
  /** Settles a payment that stands there. */
  settledBlock: number;
  /** Never changes again; a chain that changes it is halted. */
  finalizedBlock: number;
};

/** The lines that say how far a transfer is to be trusted. */
export type FinalityLimits = Pick<BlockLimits, "settledBlock" | "finalizedBlock">;

/** Draws a chain's lines from what its node tells; each is at least 0 and at most the first. */
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

/** The highest of these that so many reach; undefined where there are fewer. */
const nthHighest = (count: number, numbers: readonly number[]): number | undefined =>
  numbers.toSorted((a, b) => b - a)[count - 1];

/**
 * How many must reach a head for it to be read up to: of three or more two, so that no one of them
 * leads the watch astray. Of two the further one is believed: the other may be behind.
 */
const getRequiredProviderCount = (reportedHeads: readonly unknown[]): number =>
  reportedHeads.length > 2 ? 2 : 1;

/** The newest block that is believed to be there, by what each provider told. */
export const selectTrustedHead = (reportedHeads: readonly Heads[]): number =>
  nthHighest(
    getRequiredProviderCount(reportedHeads),
    reportedHeads.map(({ latest }) => latest),
  ) ?? 0;

/**
 * Draws the lines by what several providers tell. `read` says how far may be read, and shown as
 * seen; `agreed` what `quorum` of them vouch for, each by its own heads: -1 while there are fewer.
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
 * What to read next. `tip` is the scanned block whose hash is held against the node's first: below
 * the last scanned one where the chain has become shorter. `final` blocks are read in wide ranges;
 * `fresh` ones with their headers: their chain of parent hashes is kept until they are final, and
 * their blooms tell of logs that a node leaves out. Where a chain's blocks are final at once, the
 * newest are fresh all the same. A `sparse` chain is read in ranges up to its head.
 */
export type ScanPlan = { tip: number } & (
  | { kind: "none" }
  | { kind: "final" | "fresh" | "sparse"; fromBlock: number; toBlock: number }
);

/**
 * The most blocks read with their headers in one step: the headers of those that a provider does not bear
 * in one question are read in vain.
 */
export const freshBlocksMaxDefault = 100;

/** The most ranges of final blocks read in one step: it ends to look at the heads again. */
const finalRangesMax = 8;

/** Plans the next step of a chain that has been scanned up to a block. */
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
