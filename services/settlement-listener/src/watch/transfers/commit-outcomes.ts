import { transact } from "@payment-links/postgres";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { recordTransfers, recordStoredTransfers } from "../../sightings/record-transfers.ts";
import { orphanMissing } from "../../store/chain-transfers.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/**
 * Commits what became of transfers: settled ones, those that failed for good, and those that are
 * missing where they were seen, so that they wait with those that a reorg took away.
 */
export const commitOutcomes = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  outcomes: {
    settled: readonly ChainTransfer[];
    failed: readonly StoredTransfer[];
    missing?: readonly StoredTransfer[];
  },
): Promise<void> => {
  const { missing = [] } = outcomes;
  if (outcomes.settled.length + outcomes.failed.length + missing.length === 0) return;
  const failed = await transact(pool, async (tx) => {
    const now = clock.now();
    await lockLead(tx, lead);
    await recordTransfers(tx, outcomes.settled, now);
    const gone = await orphanMissing(tx, chain.id, missing);
    await recordStoredTransfers(tx, gone, now);
    return recordStoredTransfers(tx, outcomes.failed, now, () => "failed");
  });
  wakeRelay();
  metrics.transferred(chain.id, "settled", outcomes.settled.length);
  metrics.transferred(chain.id, "failed", failed.length);
  metrics.transferred(chain.id, "orphaned", missing.length);
};
