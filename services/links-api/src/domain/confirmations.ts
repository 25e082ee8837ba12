import type { ChainAdvance, Decimal } from "@payment-links/contracts";

/** How far a chain is, as it was told last, and how many blocks a payment needs on top of its own. */
export type ChainProgress = Omit<ChainAdvance, "neededBlocks"> & { neededBlocks: number };

/** How many blocks lie on top of a payment's own, of those that it needs until it settles. */
export type Confirmations = { seen: number; needed: number };

/** Two words of a chain that lie further apart say nothing of what it needed in between. */
const gapWindowMs = 60_000;

const clockSkewMsMax = 60_000;

/** A word from later than this was told by a clock that was wrong: it silences none that follows it. */
export const latestPlausibleTime = (now: Date): Date => new Date(now.getTime() + clockSkewMsMax);

/**
 * Takes a chain's word at `now`; undefined where a later one is known and believed. Where a tag of the
 * chain decides, what a payment needs is an estimate: the tag moves by leaps, and just before one it lies
 * the furthest behind. So it is the most of what lay between the tag and the head since before the last leap.
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

/** Shows how far a payment is on its chain; null where its block or the chain's head is not known. */
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
