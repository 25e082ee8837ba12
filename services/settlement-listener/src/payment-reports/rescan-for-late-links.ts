import type { Transaction } from "@payment-links/postgres";
import type { WatchedLink } from "../store/links.ts";
import { findBlocksScannedSince, insertRescan } from "../store/rescans.ts";

/**
 * Requests a rescan if events of Bitcoin links arrive so late that the audit may have passed the
 * blocks with their payments (rule CHAIN-29). The rescan starts after the last block that was
 * scanned before the earliest of these links was created.
 */
export const rescanForLateLinks = async (
  tx: Transaction,
  links: readonly Pick<WatchedLink, "chainId" | "paidFrom">[],
  now: Date,
): Promise<void> => {
  const earliestPaidFrom = new Map<string, Date>();
  for (const { chainId, paidFrom } of links) {
    if (paidFrom === null) continue;
    const currentEarliest = earliestPaidFrom.get(chainId);
    if (currentEarliest === undefined || paidFrom < currentEarliest)
      earliestPaidFrom.set(chainId, paidFrom);
  }
  for (const [chainId, paidFrom] of earliestPaidFrom) {
    const range = await findBlocksScannedSince(tx, chainId, paidFrom);
    if (range !== undefined) await insertRescan(tx, { chainId, ...range, requestedAt: now });
  }
};
