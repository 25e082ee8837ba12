import type { Clock, Log } from "@payment-links/runtime";

/** Tracks transactions that a provider lists, but for which no provider returns a receipt. */
export type MissingReceiptTracker = {
  /**
   * Returns the transactions whose receipts the scan must still wait for. The wait ends after two
   * minutes, so that the chain does not stall. The audit requests the receipt again.
   */
  listAwaited: (missingHashes: readonly string[]) => readonly string[];
  /** Clears the tracker. Call it after a scan step that got past these transactions. */
  clear: () => void;
};

const awaitedMsMax = 120_000;

export const createMissingReceiptTracker = ({
  chainId,
  clock,
  log,
}: {
  chainId: string;
  clock: Pick<Clock, "elapsedMs">;
  log: Pick<Log, "error">;
}): MissingReceiptTracker => {
  const missingSinceMs = new Map<string, number>();
  const skippedHashes = new Set<string>();
  return {
    listAwaited: (missingHashes) => {
      const nowMs = clock.elapsedMs();
      return missingHashes.filter((hash) => {
        const sinceMs = missingSinceMs.get(hash) ?? nowMs;
        missingSinceMs.set(hash, sinceMs);
        if (nowMs - sinceMs < awaitedMsMax) return true;
        if (!skippedHashes.has(hash)) {
          skippedHashes.add(hash);
          const logFields = { chain: chainId, transaction: hash };
          log.error(
            logFields,
            "listed transaction has no receipt, the scan continues and the audit retries",
          );
        }
        return false;
      });
    },
    clear: () => {
      missingSinceMs.clear();
      skippedHashes.clear();
    },
  };
};
