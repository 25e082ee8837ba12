import type { ChainAdvance, Decimal } from "@payment-links/contracts";

/**
 * A chain's last reported progress. `neededBlocks` is the number of blocks that a payment needs on
 * top of its own block.
 */
export type ChainProgress = Omit<ChainAdvance, "neededBlocks"> & { neededBlocks: number };

/**
 * The number of blocks on top of a payment's own block (`seen`), and the number that it needs to
 * settle (`needed`).
 */
export type Confirmations = { seen: number; needed: number };

/** If two updates are further apart than this, the gap between them cannot be estimated. */
const gapWindowMs = 60_000;

const clockSkewMsMax = 60_000;

/**
 * Returns the latest time that an update received at `now` can plausibly have. If a stored update
 * has a later time, its clock was wrong, so any newer update replaces it.
 */
export const latestPlausibleTime = (now: Date): Date => new Date(now.getTime() + clockSkewMsMax);

/**
 * Returns the chain's progress after an update received at `now`. Returns undefined if a later
 * update with a plausible time is already stored.
 *
 * If a block tag such as `finalized` decides when payments settle, `neededBlocks` is an estimate.
 * The tag moves in jumps and is furthest behind the head just before each jump. The estimate is
 * therefore the largest gap between the tag and the head since just before the last jump.
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
 * Returns how far a payment is from settling. Returns null if the payment's block or the chain's
 * head is unknown, or if the payment does not need any blocks.
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
