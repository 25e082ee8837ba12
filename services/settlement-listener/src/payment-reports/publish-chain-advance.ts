import { createOutgoingEvent, publish } from "@payment-links/bus";
import { type ChainAdvance, chainAdvanced } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { markAdvancePublished } from "../store/chain-advances.ts";

/**
 * Tells how far a chain is, if payments on it wait and nobody was told lately (rule EVENT-9). Called in the
 * transaction that moves its checkpoint, with its lead locked. Answers whether it was told.
 */
export const publishChainAdvance = async (
  tx: Transaction,
  advance: ChainAdvance,
): Promise<boolean> => {
  const { at: now, chainId, neededBlocks, neededByAmount = [], settledTo } = advance;
  // Fewer providers than are needed have told how far it is.
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
