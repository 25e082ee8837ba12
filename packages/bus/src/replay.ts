import { type Pool, transact } from "@payment-links/postgres";
import { applyEvents } from "./apply-events.ts";
import { indexHandlers, parseRecord } from "./cloud-event.ts";
import {
  type DeadLetterLane,
  findDeadLetterLanes,
  deleteFirstDeadLetter,
  toReceivedRecord,
  updateDeadLetterReason,
} from "./dead-letters.ts";
import { classifyFailure } from "./failure.ts";
import type { RegisteredHandler } from "./event-handlers.ts";

export type ReplayOptions = {
  pool: Pool;
  group: string;
  handlers: readonly RegisteredHandler[];
  /** Replays only dead letters with this key. */
  key?: string | undefined;
  /**
   * Replays only lanes whose first dead letter comes after this one, to continue an earlier replay.
   */
  afterSeq?: string | undefined;
  /** Called after each commit, like the consumer's `afterCommit`. */
  afterCommit?: () => void;
};

/**
 * The result of a replay. `isCutShort` means that one call did not replay all dead letters.
 * `nextAfterSeq` is where the next call should start, after the lanes that failed in this call.
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
type StepResult = "replayed" | "empty" | Failure;

/**
 * Replays dead letters through the handlers of the group that stored them, in order per key. A
 * success deletes the dead letter in the same transaction. A key stops at its first failure, and
 * the other keys continue. A replay does not send records to the topic again, because an old state
 * would then arrive last and replace a newer one. Throws if the database is unavailable; completed
 * replays remain.
 */
export const replayDeadLetters = async (options: ReplayOptions): Promise<ReplayResult> => {
  const { pool, group, key, afterSeq = "0" } = options;
  const handlerIndex = indexHandlers(options.handlers);
  const lanes = await findDeadLetterLanes(pool, { group, key, afterSeq, lanesMax });
  const failures: ReplayResult["failures"][number][] = [];
  let replayedCount = 0;
  let lastSeq = afterSeq;
  for (const lane of lanes) {
    while (replayedCount < recordsMax) {
      const stepResult = await replayFirstDeadLetter({ pool, group, lane, handlerIndex });
      if (stepResult === "empty") break;
      if (stepResult !== "replayed") {
        failures.push({ topic: lane.topic, key: lane.key, ...stepResult });
        break;
      }
      replayedCount += 1;
      options.afterCommit?.();
    }
    if (replayedCount < recordsMax) lastSeq = lane.firstSeq;
  }
  const isCutShort = lanes.length === lanesMax || replayedCount >= recordsMax;
  return { replayedCount, failures, isCutShort, nextAfterSeq: isCutShort ? lastSeq : null };
};

const replayFirstDeadLetter = async (options: {
  pool: Pool;
  group: string;
  lane: DeadLetterLane;
  handlerIndex: ReadonlyMap<string, RegisteredHandler>;
}): Promise<StepResult> => {
  const { pool, group, lane, handlerIndex } = options;
  let currentSeq = lane.firstSeq;
  try {
    return await transact(pool, async (tx) => {
      const row = await deleteFirstDeadLetter(tx, { group, lane });
      if (row === undefined) return "empty";
      currentSeq = row.seq;
      const parsedRecord = parseRecord(toReceivedRecord(row), handlerIndex);
      if (parsedRecord.kind === "unreadable") throw new Error(parsedRecord.reason);
      if (parsedRecord.kind === "event") await applyEvents(tx, group, [parsedRecord]);
      return "replayed";
    });
  } catch (error) {
    if (classifyFailure(error) === "transient") throw error;
    const reason = error instanceof Error ? error.message : "a value that is no error was thrown";
    await updateDeadLetterReason(pool, { seq: currentSeq, reason });
    return { seq: currentSeq, reason };
  }
};
