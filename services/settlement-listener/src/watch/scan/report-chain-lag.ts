import { readProgress } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/**
 * The times of the last scanned and the last final block, by the chain's clock. Null if unknown.
 */
type LastBlockTimes = { scannedAt: Date | null; finalizedAt: Date | null };

/** Reports the ages of the last scanned and the last final block. */
export const reportChainLag = (
  { chain, clock, metrics }: Pick<WatchContext, "chain" | "clock" | "metrics">,
  { finalizedAt, scannedAt }: LastBlockTimes,
): void => {
  const nowMs = clock.now().getTime();
  const getAgeSeconds = (minedAt: Date | null): number =>
    minedAt === null ? 0 : Math.max(0, (nowMs - minedAt.getTime()) / 1000);
  metrics.setLagSeconds(chain.id, {
    headLagSeconds: getAgeSeconds(scannedAt),
    finalizedLagSeconds: getAgeSeconds(finalizedAt),
  });
};

/**
 * Reports the ages of the stored blocks again after a step without progress, because the ages keep
 * growing.
 */
export const reportStoredChainLag = async (watch: WatchContext): Promise<void> => {
  const { finalizedMinedAt, scannedMinedAt, scannedTo } = await readProgress(
    watch.pool,
    watch.chain.id,
  );
  // There is no lag before the watch has started.
  if (scannedTo === null) return;
  reportChainLag(watch, { scannedAt: scannedMinedAt, finalizedAt: finalizedMinedAt });
};
