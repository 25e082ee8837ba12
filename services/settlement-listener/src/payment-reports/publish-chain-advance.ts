import { createOutgoingEvent, publish } from "@payment-links/bus";
import { type ChainAdvance, chainAdvanced } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { markAdvancePublished } from "../store/chain-advances.ts";

/**
 * Publishes a chain's progress if it has pending payments and the last report is not too recent
 * (rule EVENT-9). Call this in the transaction that moves the checkpoint, while it holds the
 * leadership lock. Returns whether it published.
 */
export const publishChainAdvance = async (
  tx: Transaction,
  advance: ChainAdvance,
): Promise<boolean> => {
  const { at: now, chainId, neededBlocks, neededByAmount = [], settledTo } = advance;
  // A negative number means that no quorum of providers has reported its heads.
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
