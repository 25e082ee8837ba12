import type { KeptTransfer, Transfer } from "../../domain/transfer.ts";
import { keepTransfers, tellTransfers } from "../../sightings/keep-transfers.ts";
import { failTransfers } from "../../store/chain-transfers.ts";
import { type Lead, lockWatch } from "../../store/watchers.ts";
import type { ChainWatch } from "../chain/watch-context.ts";

/** Keeps and tells what became of transfers, in one transaction. */
export const commitTruth = async (
  { chain, clock, metrics, pool, wakeRelay }: ChainWatch,
  lead: Lead,
  truth: { settled: readonly Transfer[]; failed: readonly KeptTransfer[] },
): Promise<void> => {
  if (truth.settled.length === 0 && truth.failed.length === 0) return;
  const failed = await pool.transaction(async (tx) => {
    const now = clock.now();
    await lockWatch(tx, lead);
    await keepTransfers(tx, truth.settled, now);
    const failed = await failTransfers(tx, chain.id, truth.failed, now);
    await tellTransfers(tx, failed, now);
    return failed;
  });
  wakeRelay();
  metrics.transferred(chain.id, "settled", truth.settled.length);
  metrics.transferred(chain.id, "failed", failed.length);
};
