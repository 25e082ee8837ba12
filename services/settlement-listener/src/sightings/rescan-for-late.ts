import type { Transaction } from "@payment-links/postgres";
import type { NamedLink } from "../store/links.ts";
import { findLateScan, insertRescan } from "../store/rescans.ts";

/**
 * Asks for a rescan where links on Bitcoin are heard of so late that the audit may have passed the blocks in
 * which they were paid. The rescan begins where the scan stood when the earliest of them was made.
 */
export const rescanForLate = async (
  tx: Transaction,
  links: readonly Pick<NamedLink, "chainId" | "paidFrom">[],
  now: Date,
): Promise<void> => {
  const earliest = new Map<string, Date>();
  for (const { chainId, paidFrom } of links) {
    if (paidFrom === null) continue;
    const before = earliest.get(chainId);
    if (before === undefined || paidFrom < before) earliest.set(chainId, paidFrom);
  }
  for (const [chainId, paidFrom] of earliest) {
    const range = await findLateScan(tx, chainId, paidFrom);
    if (range !== undefined) await insertRescan(tx, { chainId, ...range, askedAt: now });
  }
};
