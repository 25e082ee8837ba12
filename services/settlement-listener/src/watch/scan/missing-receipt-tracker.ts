import type { Clock, Log } from "@payment-links/runtime";

/** Transactions that a provider lists, and of which nobody gives the receipt. */
export type MissingReceiptTracker = {
  /**
   * Returns those for which the scan still waits. A scan that waited for ever would stall the chain, so it
   * goes on without a receipt that has been missing for two minutes: the audit asks for it again.
   */
  listAwaited: (missingHashes: readonly string[]) => readonly string[];
  /** Forgets all of them, after a scan that has passed them. */
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
            "a listed transaction has no receipt; the scan goes on, the audit asks again",
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
