import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { keepTransfers, tellTransfers } from "../../sightings/keep-transfers.ts";
import { failTransfers } from "../../store/chain-transfers.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/** Keeps and tells what became of transfers, in one transaction. */
export const commitTruth = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  truth: { settled: readonly ChainTransfer[]; failed: readonly StoredTransfer[] },
): Promise<void> => {
  if (truth.settled.length === 0 && truth.failed.length === 0) return;
  const failed = await pool.transaction(async (tx) => {
    const now = clock.now();
    await lockLead(tx, lead);
    await keepTransfers(tx, truth.settled, now);
    const failed = await failTransfers(tx, chain.id, truth.failed, now);
    await tellTransfers(tx, failed, now);
    return failed;
  });
  wakeRelay();
  metrics.transferred(chain.id, "settled", truth.settled.length);
  metrics.transferred(chain.id, "failed", failed.length);
};
