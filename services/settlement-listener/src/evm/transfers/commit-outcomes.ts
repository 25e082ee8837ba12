import { transact } from "@payment-links/postgres";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { recordTransfers, recordStoredTransfers } from "../../sightings/record-transfers.ts";
import { failTransfers } from "../../store/chain-transfers.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/** Commits what became of transfers: settled ones, and those that failed for good. */
export const commitOutcomes = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  outcomes: { settled: readonly ChainTransfer[]; failed: readonly StoredTransfer[] },
): Promise<void> => {
  if (outcomes.settled.length === 0 && outcomes.failed.length === 0) return;
  const failed = await transact(pool, async (tx) => {
    const now = clock.now();
    await lockLead(tx, lead);
    await recordTransfers(tx, outcomes.settled, now);
    const failed = await failTransfers(tx, chain.id, outcomes.failed, now);
    await recordStoredTransfers(tx, failed, now);
    return failed;
  });
  wakeRelay();
  metrics.transferred(chain.id, "settled", outcomes.settled.length);
  metrics.transferred(chain.id, "failed", failed.length);
};
