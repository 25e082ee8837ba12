import { transact } from "@payment-links/postgres";
import { deleteUnmatchedTransfers } from "../../store/chain-transfers.ts";
import { readLinksReceivedUntil } from "../../store/links-received-until.ts";
import { type Leadership, lockLeadership, readProgress } from "../../store/watchers.ts";
import type { BackgroundJobName } from "../chain/background-job-names.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { auditRange } from "./audit-range.ts";
import {
  type OrphanCheck,
  resolveOrphanedTransfers,
  createOrphanCheck,
} from "./resolve-orphaned-transfers.ts";
import { type MempoolState, trackMempool, createMempoolState } from "../mempool/track-mempool.ts";
import { type NonceBackfill, backfillNonces } from "./backfill-nonces.ts";
import { type RescanState, rescanRange } from "./rescan-range.ts";

/** The in-memory state of a chain's background jobs. It can be lost without harm. */
export type BackgroundJobState = {
  orphanCheck: OrphanCheck;
  /** A value of the clock's `elapsedMs`. */
  orphanCheckPausedUntilMs: number;
  auditedTo: number;
  /** A value of the clock's `elapsedMs`. */
  cleanupPausedUntilMs: number;
  nonceBackfill: NonceBackfill;
  mempool: MempoolState;
  rescanState: RescanState;
};

/** Creates the initial state. A new leadership starts with it. */
export const createJobState = (): BackgroundJobState => ({
  orphanCheck: createOrphanCheck(),
  orphanCheckPausedUntilMs: 0,
  auditedTo: -1,
  cleanupPausedUntilMs: 0,
  nonceBackfill: { afterSeq: "0", pausedUntilMs: 0 },
  mempool: createMempoolState(),
  rescanState: { tooFewProvidersSinceMs: undefined },
});

type JobRun = {
  watch: WatchContext;
  leadership: Leadership;
  finalizedTo: number;
  jobState: BackgroundJobState;
};

const orphanCheckIntervalMs = 10_000;
const cleanupIntervalMs = 10 * 60_000;
const unmatchedRetentionMs = 24 * 60 * 60_000;
const cleanupBatchMax = 5_000;

/**
 * The background jobs of a chain. Each has its own loop, so a slow or failing job does not affect
 * the others. A job returns whether there is more to do now, or undefined while it pauses after a
 * run without results.
 */
export const backgroundJobs: Record<
  BackgroundJobName,
  (run: JobRun) => Promise<boolean | undefined>
> = {
  /**
   * Resolves orphaned payments. Uses only blocks that the audit has passed, because the audit finds
   * payments that were mined again. Pauses if some payments remain undecided, because some can
   * never be decided.
   */
  judge: async ({ watch, leadership, finalizedTo, jobState }) => {
    const { chain, clock, pool } = watch;
    const { orphanCheck } = jobState;
    if (orphanCheck.afterSeq === "0" && finalizedTo <= orphanCheck.decidedTo) return false;
    if (clock.elapsedMs() < jobState.orphanCheckPausedUntilMs) return undefined;
    const { auditedTo } = await readProgress(pool, chain.id);
    const rereadTo = Math.min(finalizedTo, auditedTo ?? -1);
    if (orphanCheck.afterSeq === "0" && rereadTo <= orphanCheck.decidedTo) return false;
    jobState.orphanCheckPausedUntilMs = clock.elapsedMs() + orphanCheckIntervalMs;
    const limits = { settledBlock: rereadTo, finalizedBlock: rereadTo };
    await resolveOrphanedTransfers(watch, leadership, { limits, orphanCheck });
    jobState.orphanCheckPausedUntilMs = 0;
    return false;
  },

  /** Requests the nonces that were unknown when payments were seen. */
  learn: ({ watch, leadership, finalizedTo, jobState }) =>
    backfillNonces(watch, leadership, { finalizedTo, backfill: jobState.nonceBackfill }),

  /** Tracks the mempool, if the chain family can read it. */
  foresee: ({ watch, leadership, jobState }) => trackMempool(watch, leadership, jobState.mempool),

  /**
   * Deletes transfers that no link has claimed for 24 hours. Measures the 24 hours up to the time
   * for which all link events have been received, so a delayed event does not lose its transfers.
   */
  forget: async ({ watch, leadership, finalizedTo, jobState }) => {
    const { chain, clock, pool } = watch;
    if (clock.elapsedMs() < jobState.cleanupPausedUntilMs) return false;
    const receivedUntil = await readLinksReceivedUntil(pool);
    if (receivedUntil === undefined) return false;
    const seenBefore = new Date(
      Math.min(clock.now().getTime(), receivedUntil.getTime()) - unmatchedRetentionMs,
    );
    const deletedCount = await transact(pool, async (tx) => {
      await lockLeadership(tx, leadership);
      return deleteUnmatchedTransfers(tx, chain.id, {
        seenBefore,
        finalizedTo,
        countMax: cleanupBatchMax,
      });
    });
    const hasMore = deletedCount === cleanupBatchMax;
    if (!hasMore) jobState.cleanupPausedUntilMs = clock.elapsedMs() + cleanupIntervalMs;
    return hasMore;
  },

  /** Runs one step of the oldest rescan. */
  rescan: ({ watch, leadership, finalizedTo, jobState }) =>
    rescanRange(watch, leadership, { finalizedTo, state: jobState.rescanState }),

  /** Reads a range of final blocks a second time, from another provider if there is one. */
  audit: async ({ watch, leadership, finalizedTo, jobState }) => {
    if (finalizedTo <= jobState.auditedTo) return false;
    const { chain, metrics, pool } = watch;
    const { auditedTo: storedAuditedTo } = await readProgress(pool, chain.id);
    jobState.auditedTo = storedAuditedTo ?? finalizedTo;
    const { auditBlocksMin = 1 } = chain.settings;
    if (jobState.auditedTo + auditBlocksMin > finalizedTo) return false;
    let reachedTo = jobState.auditedTo;
    try {
      reachedTo = await auditRange(watch, leadership, { auditedTo: reachedTo, finalizedTo });
    } finally {
      metrics.setAuditLag(chain.id, finalizedTo - reachedTo);
    }
    return true;
  },
};
