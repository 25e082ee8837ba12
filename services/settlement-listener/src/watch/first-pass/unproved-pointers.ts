import type { Clock, Log } from "@payment-links/runtime";

/** Transactions that a provider lists, and of which nobody gives the receipt. */
export type UnprovedPointers = {
  /**
   * Returns those for which the scan still waits. A scan that waited for ever would stall the chain, so it
   * goes on without a receipt that has been missing for two minutes: the audit asks for it again.
   */
  listAwaited: (missingHashes: readonly string[]) => readonly string[];
  /** Forgets all of them, after a scan that has passed them. */
  clear: () => void;
};

const awaitedMsMax = 120_000;

export const createUnprovedPointers = ({
  chainId,
  clock,
  log,
}: {
  chainId: string;
  clock: Pick<Clock, "elapsedMs">;
  log: Pick<Log, "error">;
}): UnprovedPointers => {
  const missingSinceMs = new Map<string, number>();
  const skipped = new Set<string>();
  return {
    listAwaited: (missingHashes) => {
      const nowMs = clock.elapsedMs();
      return missingHashes.filter((hash) => {
        const sinceMs = missingSinceMs.get(hash) ?? nowMs;
        missingSinceMs.set(hash, sinceMs);
        if (nowMs - sinceMs < awaitedMsMax) return true;
        if (!skipped.has(hash)) {
          skipped.add(hash);
          const line = { chain: chainId, transaction: hash };
          log.error(
            line,
            "a listed transaction has no receipt; the scan goes on, the audit asks again",
          );
        }
        return false;
      });
    },
    clear: () => {
      missingSinceMs.clear();
      skipped.clear();
    },
  };
};
