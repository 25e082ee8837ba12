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

/** In-memory state of a chain's background jobs between runs. Losing it does no harm. */
export type BackgroundJobState = {
  orphanCheck: OrphanCheck;
  /** By the clock's `elapsedMs`. */
  orphanCheckPausedUntilMs: number;
  auditedTo: number;
  /** By the clock's `elapsedMs`. */
  cleanupPausedUntilMs: number;
  nonceBackfill: NonceBackfill;
  mempool: MempoolState;
  rescanState: RescanState;
};

/** Creates the initial state, for example under a new leadership. */
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
 * The jobs over final blocks that run behind the scan. Each has its own loop, so no job waits for
 * another or fails with it. A job returns whether there is more to do immediately, or undefined
 * while it pauses after a run without results.
 */
export const backgroundJobs: Record<
  BackgroundJobName,
  (run: JobRun) => Promise<boolean | undefined>
> = {
  /**
   * Resolves orphaned payments, using only blocks that the audit has read: a payment in such a
   * block is no longer orphaned. Pauses if some payments remain undecided, because some can never
   * be decided.
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

  /** Requests nonces that were unknown when their payments were seen. */
  learn: ({ watch, leadership, finalizedTo, jobState }) =>
    backfillNonces(watch, leadership, { finalizedTo, backfill: jobState.nonceBackfill }),

  /** Tracks the mempool, if the chain family shows it. */
  foresee: ({ watch, leadership, jobState }) => trackMempool(watch, leadership, jobState.mempool),

  /**
   * Deletes transfers that no link has claimed, once every link created in time would have been
   * received. All link events up to that time have been consumed.
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

  /** Runs one step of an operator's rescan. */
  rescan: ({ watch, leadership, finalizedTo, jobState }) =>
    rescanRange(watch, leadership, { finalizedTo, state: jobState.rescanState }),

  /** Reads a range a second time, from another provider if there is one. */
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
