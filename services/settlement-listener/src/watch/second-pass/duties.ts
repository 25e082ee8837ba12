import { transact } from "@payment-links/postgres";
import { deleteUnmatchedTransfers } from "../../store/chain-transfers.ts";
import { readLinksHeardUntil } from "../../store/heard-until.ts";
import { type Lead, lockLead, readProgress } from "../../store/watchers.ts";
import type { DutyName } from "../chain/duty-names.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { auditRange } from "./audit-range.ts";
import { type JudgeWalk, judgeLostTransfers, newJudgeWalk } from "./judge-lost-transfers.ts";
import { type Foresight, foreseeTransfers, noForesight } from "../waiting/foresee-transfers.ts";
import { type NonceWalk, learnNonces } from "./learn-nonces.ts";
import { type RescanMemory, rescanRange } from "./rescan-range.ts";

/** What the duties of a chain remember between their turns. It may be lost without harm. */
export type DutyMemory = {
  judgeWalk: JudgeWalk;
  /** By the clock's `elapsedMs`. */
  judgeRestsUntilMs: number;
  auditedTo: number;
  /** By the clock's `elapsedMs`. */
  forgetRestsUntilMs: number;
  nonceWalk: NonceWalk;
  foresight: Foresight;
  rescan: RescanMemory;
};

/** Nothing is remembered yet, as under a new lead. */
export const noMemory = (): DutyMemory => ({
  judgeWalk: newJudgeWalk(),
  judgeRestsUntilMs: 0,
  auditedTo: -1,
  forgetRestsUntilMs: 0,
  nonceWalk: { afterSeq: "0", restsUntilMs: 0 },
  foresight: noForesight(),
  rescan: { shortSinceMs: undefined },
});

type Turn = { watch: WatchContext; lead: Lead; finalizedTo: number; memory: DutyMemory };

const judgeRestMs = 10_000;
const forgetEveryMs = 10 * 60_000;
const unmatchedKeptMs = 24 * 60 * 60_000;
const forgottenAtOnceMax = 5_000;

/**
 * What is due over final blocks, behind the first pass. Each has a loop of its own: none waits for
 * another, or fails with it. It answers whether there is more to do at once, undefined where it rests
 * from a turn that came to nothing.
 */
export const duties: Record<DutyName, (turn: Turn) => Promise<boolean | undefined>> = {
  /**
   * Judges payments that a reorg took away, by the blocks that were read twice: if such a block holds the
   * payment, it is no longer lost. It rests where not all could be decided: some never can.
   */
  judge: async ({ watch, lead, finalizedTo, memory }) => {
    const { chain, clock, pool } = watch;
    const { judgeWalk: walk } = memory;
    if (walk.afterSeq === "0" && finalizedTo <= walk.judgedTo) return false;
    if (clock.elapsedMs() < memory.judgeRestsUntilMs) return undefined;
    const { auditedTo } = await readProgress(pool, chain.id);
    const readTwiceTo = Math.min(finalizedTo, auditedTo ?? -1);
    if (walk.afterSeq === "0" && readTwiceTo <= walk.judgedTo) return false;
    memory.judgeRestsUntilMs = clock.elapsedMs() + judgeRestMs;
    const lines = { settle: readTwiceTo, final: readTwiceTo };
    await judgeLostTransfers(watch, lead, { lines, walk });
    memory.judgeRestsUntilMs = 0;
    return false;
  },

  /** Learns the nonces that nobody told when their payments were seen. */
  learn: ({ watch, lead, finalizedTo, memory }) =>
    learnNonces(watch, lead, { finalizedTo, walk: memory.nonceWalk }),

  /** Shows what waits to be mined, where the family does. */
  foresee: ({ watch, lead, memory }) => foreseeTransfers(watch, lead, memory.foresight),

  /**
   * Forgets transfers for which no link came, if one that was made in time would have been heard of:
   * everything that was said of links up to then has been.
   */
  forget: async ({ watch, lead, finalizedTo, memory }) => {
    const { chain, clock, pool } = watch;
    if (clock.elapsedMs() < memory.forgetRestsUntilMs) return false;
    const heardUntil = await readLinksHeardUntil(pool);
    if (heardUntil === undefined) return false;
    const before = new Date(
      Math.min(clock.now().getTime(), heardUntil.getTime()) - unmatchedKeptMs,
    );
    const forgottenCount = await transact(pool, async (tx) => {
      await lockLead(tx, lead);
      return deleteUnmatchedTransfers(tx, chain.id, {
        before,
        finalizedTo,
        countMax: forgottenAtOnceMax,
      });
    });
    const isMore = forgottenCount === forgottenAtOnceMax;
    if (!isMore) memory.forgetRestsUntilMs = clock.elapsedMs() + forgetEveryMs;
    return isMore;
  },

  /** Takes a step of an operator's rescan. */
  rescan: ({ watch, lead, finalizedTo, memory }) =>
    rescanRange(watch, lead, { finalizedTo, memory: memory.rescan }),

  /** Reads a range once more, by another provider where there is one. */
  audit: async ({ watch, lead, finalizedTo, memory }) => {
    if (finalizedTo <= memory.auditedTo) return false;
    const { chain, metrics, pool } = watch;
    const { auditedTo } = await readProgress(pool, chain.id);
    memory.auditedTo = auditedTo ?? finalizedTo;
    const { auditBlocksMin = 1 } = chain.settings;
    if (memory.auditedTo + auditBlocksMin > finalizedTo) return false;
    let reached = memory.auditedTo;
    try {
      reached = await auditRange(watch, lead, { auditedTo: reached, finalizedTo });
    } finally {
      metrics.audited(chain.id, finalizedTo - reached);
    }
    return true;
  },
};
