import { transact } from "@payment-links/postgres";
import type { StoredTransfer, Transfer } from "../../domain/transfer.ts";
import { recordTransfers, recordStoredTransfers } from "../../payment-reports/record-transfers.ts";
import { orphanMissingTransfers } from "../../store/chain-transfers.ts";
import { type Leadership, lockLeadership } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/**
 * Commits which transfers have settled, have failed permanently, or are missing from the block
 * where they were seen. Missing transfers become orphaned, as in a reorg.
 */
export const commitOutcomes = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  leadership: Leadership,
  outcomes: {
    settled: readonly Transfer[];
    failed: readonly StoredTransfer[];
    missing?: readonly StoredTransfer[];
  },
): Promise<void> => {
  const { missing: missingTransfers = [] } = outcomes;
  if (outcomes.settled.length + outcomes.failed.length + missingTransfers.length === 0) return;
  const failedPayments = await transact(pool, async (tx) => {
    const now = clock.now();
    await lockLeadership(tx, leadership);
    await recordTransfers(tx, outcomes.settled, now);
    const orphanedTransfers = await orphanMissingTransfers(tx, chain.id, missingTransfers);
    await recordStoredTransfers(tx, orphanedTransfers, now);
    return recordStoredTransfers(tx, outcomes.failed, now, () => "failed");
  });
  wakeRelay();
  metrics.countTransfers(chain.id, "settled", outcomes.settled.length);
  metrics.countTransfers(chain.id, "failed", failedPayments.length);
  metrics.countTransfers(chain.id, "orphaned", missingTransfers.length);
};
