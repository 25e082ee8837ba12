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

/** What the duties of a chain remember between their turns. It may be lost without harm. */
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

/** Nothing is remembered yet, as under a new lead. */
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
 * What is due over final blocks, behind the first pass. Each has a loop of its own: none waits for
 * another, or fails with it. It answers whether there is more to do at once, undefined where it rests
 * from a turn that came to nothing.
 */
export const backgroundJobs: Record<
  BackgroundJobName,
  (run: JobRun) => Promise<boolean | undefined>
> = {
  /**
   * Judges payments that a reorg took away, by the blocks that were read twice: if such a block holds the
   * payment, it is no longer lost. It rests where not all could be decided: some never can.
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

  /** Learns the nonces that nobody told when their payments were seen. */
  learn: ({ watch, leadership, finalizedTo, jobState }) =>
    backfillNonces(watch, leadership, { finalizedTo, backfill: jobState.nonceBackfill }),

  /** Shows what waits to be mined, where the family does. */
  foresee: ({ watch, leadership, jobState }) => trackMempool(watch, leadership, jobState.mempool),

  /**
   * Forgets transfers for which no link came, if one that was made in time would have been heard of:
   * everything that was said of links up to then has been.
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

  /** Takes a step of an operator's rescan. */
  rescan: ({ watch, leadership, finalizedTo, jobState }) =>
    rescanRange(watch, leadership, { finalizedTo, state: jobState.rescanState }),

  /** Reads a range once more, by another provider where there is one. */
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
