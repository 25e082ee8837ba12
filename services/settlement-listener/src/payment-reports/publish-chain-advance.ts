import { createOutgoingEvent, publish } from "@payment-links/bus";
import { type ChainAdvance, chainAdvanced } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { markAdvancePublished } from "../store/chain-advances.ts";

/**
 * Publishes a chain's progress if payments on it wait and it was not published recently
 * (rule EVENT-9). Call it in the transaction that moves the checkpoint, with the leadership locked.
 * Returns whether it published.
 */
export const publishChainAdvance = async (
  tx: Transaction,
  advance: ChainAdvance,
): Promise<boolean> => {
  const { at: now, chainId, neededBlocks, neededByAmount = [], settledTo } = advance;
  // Fewer providers than the quorum have reported their heads.
  if (settledTo < 0) return false;
  const neededByTier = neededByAmount.map(({ blocks }) => blocks);
  const extraBlocks =
    neededBlocks === null ? 0 : Math.max(neededBlocks, ...neededByTier) - neededBlocks;
  if (!(await markAdvancePublished(tx, chainId, { settledTo: settledTo - extraBlocks, now })))
    return false;
  await publish(tx, [
    createOutgoingEvent(chainAdvanced, { key: chainId, occurredAt: now, data: advance }),
  ]);
  return true;
};
