import type { ChainAdvance, Decimal } from "@payment-links/contracts";

/** A chain's last reported progress, and how many blocks a payment needs on top of its own. */
export type ChainProgress = Omit<ChainAdvance, "neededBlocks"> & { neededBlocks: number };

/** The number of blocks on top of a payment's own block, and the number needed until it settles. */
export type Confirmations = { seen: number; needed: number };

/** Two updates further apart than this say nothing about the blocks needed in between. */
const gapWindowMs = 60_000;

const clockSkewMsMax = 60_000;

/**
 * Returns the latest time that is plausible for an update at `now`. A stored update with a later
 * time came from a wrong clock, so any newer update replaces it.
 */
export const latestPlausibleTime = (now: Date): Date => new Date(now.getTime() + clockSkewMsMax);

/**
 * Returns the chain's progress after an update at `now`, or undefined if a later plausible update
 * is already stored.
 *
 * If a chain tag (for example `finalized`) decides when payments settle, `neededBlocks` is an
 * estimate. The tag moves in jumps and is furthest behind the head just before a jump. The estimate
 * is therefore the largest gap between tag and head since just before the last jump.
 */
export const updateChainProgress = (
  storedProgress: ChainProgress | undefined,
  { neededBlocks, ...advance }: ChainAdvance,
  now: Date,
): ChainProgress | undefined => {
  const isAccepted =
    storedProgress === undefined ||
    advance.at > storedProgress.at ||
    storedProgress.at > latestPlausibleTime(now);
  if (!isAccepted) return undefined;
  const gap = Math.max(advance.headBlock - advance.settledTo, 0);
  return {
    ...advance,
    neededBlocks: neededBlocks ?? Math.max(gap, estimateRecentlyNeeded(storedProgress, advance)),
  };
};

const estimateRecentlyNeeded = (
  storedProgress: ChainProgress | undefined,
  advance: Pick<ChainAdvance, "at" | "settledTo">,
): number => {
  if (
    storedProgress === undefined ||
    Math.abs(advance.at.getTime() - storedProgress.at.getTime()) > gapWindowMs
  )
    return 0;
  if (advance.settledTo === storedProgress.settledTo) return storedProgress.neededBlocks;
  return storedProgress.headBlock - storedProgress.settledTo;
};

/**
 * Returns how far a payment is from settling; null if its block or the chain's head is unknown, or
 * if no blocks are needed.
 */
export const computeConfirmations = ({
  blockNumber,
  headBlock,
  neededBlocks,
  neededByAmount,
  amount,
}: {
  amount: Decimal;
  blockNumber: number | null;
  headBlock: number | null;
  neededBlocks: number | null;
  neededByAmount?: ChainAdvance["neededByAmount"] | null;
}): Confirmations | null => {
  if (blockNumber === null || headBlock === null || neededBlocks === null) return null;
  const seen = Math.max(headBlock - blockNumber, 0);
  const requiredByAmount = (neededByAmount ?? []).filter(({ from }) =>
    amount.greaterThanOrEqualTo(from),
  );
  const needed = Math.max(neededBlocks, seen, ...requiredByAmount.map(({ blocks }) => blocks));
  return needed === 0 ? null : { seen, needed };
};
