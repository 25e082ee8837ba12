import type { Transaction } from "@payment-links/postgres";
import type { WatchedLink } from "../store/links.ts";
import { findBlocksScannedSince, insertRescan } from "../store/rescans.ts";

/**
 * Asks for a rescan where links on Bitcoin are heard of so late that the audit may have passed the blocks in
 * which they were paid. The rescan begins where the scan stood when the earliest of them was made.
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
