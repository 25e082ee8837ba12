import { readProgress } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";

/** When the last blocks were mined, by their own time; null where that is not known. */
type LastBlockTimes = { scannedAt: Date | null; finalizedAt: Date | null };

/** Tells how old the last scanned and the last final block are by now. */
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

/** Tells it of what is stored, after a step that came to nothing: the blocks grow older all the same. */
export const reportStoredChainLag = async (watch: WatchContext): Promise<void> => {
  const { finalizedMinedAt, scannedMinedAt, scannedTo } = await readProgress(
    watch.pool,
    watch.chain.id,
  );
  // Before its watch has begun nothing is late.
  if (scannedTo === null) return;
  reportChainLag(watch, { scannedAt: scannedMinedAt, finalizedAt: finalizedMinedAt });
};
