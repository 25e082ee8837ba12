import { type Pool, transact } from "@payment-links/postgres";
import { applyEvents } from "./apply-events.ts";
import { indexReactions, readRecord } from "./cloud-event.ts";
import { type ParkedLane, findLanes, takeFirst, toReceived, updateReason } from "./dead-letters.ts";
import { classifyFailure } from "./failure.ts";
import type { AfterCommit, Reaction } from "./reaction.ts";

export type ReplayOptions = {
  pool: Pool;
  group: string;
  reactions: readonly Reaction[];
  /** Only what is parked under this key. */
  key?: string | undefined;
  /** Only lanes whose oldest record was parked after this one: where an earlier replay ended. */
  afterSeq?: string | undefined;
  /** Called after each commit, as the consumer's. */
  afterCommit?: () => void;
};

/**
 * What a replay came to. `isCutShort`: there is more than one call replays; `nextAfterSeq` is where the
 * next one begins, behind the lanes that failed in this one.
 */
export type ReplayResult = {
  replayedCount: number;
  failures: readonly { topic: string; key: string | null; seq: string; reason: string }[];
  isCutShort: boolean;
  nextAfterSeq: string | null;
};

const lanesMax = 1_000;
const recordsMax = 10_000;

type Failure = { seq: string; reason: string };
type Done = { afterCommits: readonly AfterCommit[] };
type Step = Done | "empty" | Failure;

/**
 * Runs parked records again through the handlers of the group that parked them, in order per key.
 * What succeeds leaves the dead letters in the same transaction; a key stops at its first failure,
 * and the others go on. It never goes by the topic: there an old state would come last and win.
 * Throws if the database is away; what was replayed until then stays done.
 */
export const replayDeadLetters = async (options: ReplayOptions): Promise<ReplayResult> => {
  const { pool, group, key, afterSeq = "0" } = options;
  const index = indexReactions(options.reactions);
  const lanes = await findLanes(pool, { group, key, afterSeq, lanesMax });
  const failures: ReplayResult["failures"][number][] = [];
  let replayedCount = 0;
  let doneSeq = afterSeq;
  for (const lane of lanes) {
    while (replayedCount < recordsMax) {
      const step = await replayFirst({ pool, group, lane, index });
      if (step === "empty") break;
      if ("reason" in step) {
        failures.push({ topic: lane.topic, key: lane.key, ...step });
        break;
      }
      replayedCount += 1;
      for (const act of step.afterCommits) act();
      options.afterCommit?.();
    }
    if (replayedCount < recordsMax) doneSeq = lane.firstSeq;
  }
  const isCutShort = lanes.length === lanesMax || replayedCount >= recordsMax;
  return { replayedCount, failures, isCutShort, nextAfterSeq: isCutShort ? doneSeq : null };
};

const replayFirst = async (options: {
  pool: Pool;
  group: string;
  lane: ParkedLane;
  index: ReadonlyMap<string, Reaction>;
}): Promise<Step> => {
  const { pool, group, lane, index } = options;
  let takenSeq = lane.firstSeq;
  try {
    return await transact(pool, async (tx) => {
      const row = await takeFirst(tx, { group, lane });
      if (row === undefined) return "empty";
      takenSeq = row.seq;
      const reading = readRecord(toReceived(row), index);
      if (reading.kind === "unreadable") throw new Error(reading.reason);
      if (reading.kind !== "event") return { afterCommits: [] };
      return { afterCommits: await applyEvents(tx, group, [reading]) };
    });
  } catch (error) {
    if (classifyFailure(error) === "transient") throw error;
    const reason = error instanceof Error ? error.message : "a value that is no error was thrown";
    await updateReason(pool, { seq: takenSeq, reason });
    return { seq: takenSeq, reason };
  }
};
