import { types } from "node:util";
import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";
import { applyEvents } from "./apply-events.ts";
import type { EventReading, Reading } from "./cloud-event.ts";
import { parkRecord, parkedBehind } from "./dead-letters.ts";
import { classifyFailure } from "./failure.ts";
import { type Mark, keepMark } from "./marks.ts";
import { findParkedKeys, keysOf, storableKey } from "./parked-keys.ts";
import { type GroupPositions, type Moved, PositionBehind } from "./positions.ts";
import type { AfterCommit } from "./reaction.ts";
import { retryAt } from "./retry-at.ts";

/** What became of a chunk once its transaction was committed. */
export type ChunkOutcome = {
  applied: readonly EventReading[];
  repeatedCount: number;
  ignoredCount: number;
  parkedCount: number;
  /** What the handlers want done now. */
  afterCommits: readonly AfterCommit[];
};

/** A consumer as its chunks see it. */
export type Applier = {
  pool: Pool;
  group: string;
  positions: GroupPositions;
  clock: Clock;
  log: Log;
  /** Called after each commit with the number of records that it settled. */
  committed: (readings: readonly Reading[], outcome: ChunkOutcome) => void;
  waited: () => void;
};

const unknownTriesMax = 5;

/**
 * Settles a chunk of one topic's records in order: each is applied, found to be a repeat, let
 * through or set aside. It tries all of them in one transaction. If one record makes that fail, it
 * tries each half, so that only that record is set aside, and the others cost few transactions. It
 * waits for a database that is away. The same transaction moves the group's position. Throws only if
 * that lies before these records, if the signal aborts during a wait, or at a defect of ours.
 */
export const applyChunk = async (
  applier: Applier,
  readings: readonly Reading[],
  signal: AbortSignal,
): Promise<void> => {
  const [first, ...others] = readings;
  if (first === undefined || signal.aborted) return;
  if (others.length === 0) return applySingly(applier, first, signal);
  try {
    const outcome = await outlast(applier, signal, () => applyTogether(applier, readings));
    return applier.committed(readings, outcome);
  } catch (error) {
    if (signal.aborted || error instanceof PositionBehind) throw error;
    applier.log.warn({ err: error }, "a chunk failed; its halves are applied one after the other");
  }
  const half = Math.ceil(readings.length / 2);
  await applyChunk(applier, readings.slice(0, half), signal);
  await applyChunk(applier, readings.slice(half), signal);
};

const applySingly = async (
  applier: Applier,
  reading: Reading,
  signal: AbortSignal,
): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      const outcome = await outlast(applier, signal, () => applyTogether(applier, [reading]));
      return applier.committed([reading], outcome);
    } catch (error) {
      if (signal.aborted || error instanceof PositionBehind) throw error;
      if (classifyFailure(error) === "permanent" || tries >= unknownTriesMax) {
        return setAside(applier, reading, error, signal);
      }
      await pause(applier, signal, { error, failures: tries });
      if (signal.aborted) throw error;
    }
  }
};

/** A failure here is not the record's fault, so it is tried for ever. */
const setAside = async (
  applier: Applier,
  reading: Reading,
  error: unknown,
  signal: AbortSignal,
): Promise<void> => {
  const reason = tell(error);
  const { topic, partition, offset } = reading.record;
  applier.log.error({ err: error, topic, partition, offset }, "a record is set aside");
  const outcome = await outlast(
    applier,
    signal,
    () => parkAlone(applier, reading, reason),
    (error) => !(error instanceof PositionBehind),
  );
  applier.committed([reading], outcome);
};

const tell = (error: unknown): string =>
  types.isNativeError(error)
    ? `${error.name}: ${error.message}`
    : "a value that is no error was thrown";

/** Runs work again after each passing failure; gives up only when the signal aborts. */
const outlast = async <Result>(
  applier: Applier,
  signal: AbortSignal,
  work: () => Promise<Result>,
  isPassing = (error: unknown) => classifyFailure(error) === "transient",
): Promise<Result> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await pause(applier, signal, { error, failures });
      if (signal.aborted) throw error;
    }
  }
};

const pause = async (
  { clock, log, waited }: Applier,
  signal: AbortSignal,
  { error, failures }: { error: unknown; failures: number },
): Promise<void> => {
  waited();
  log.warn({ err: error, failures }, "records could not be applied yet; the consumer waits");
  await clock.until(retryAt(clock, failures), signal);
};

const nothingDone: ChunkOutcome = {
  applied: [],
  repeatedCount: 0,
  ignoredCount: 0,
  parkedCount: 0,
  afterCommits: [],
};

const applyTogether = (applier: Applier, readings: readonly Reading[]): Promise<ChunkOutcome> => {
  const { group, clock } = applier;
  return settle(applier, readings, async (tx, fresh, { parkedKeys: known }) => {
    const relevant = fresh.filter((reading) => reading.kind !== "ignored");
    const ignoredCount = fresh.length - relevant.length;
    const topic = relevant[0]?.record.topic;
    if (topic === undefined) return { ...nothingDone, ignoredCount };
    const parkedKeys = known ?? (await findParkedKeys(tx, { group, topic, readings: relevant }));
    const applied: EventReading[] = [];
    let parkedCount = 0;
    let repeatedCount = 0;
    const park = async (reading: Reading, reason: string) => {
      const isNew = await parkRecord(tx, { group, reading, reason, parkedAt: clock.now() });
      const key = storableKey(reading.record.key);
      if (key !== undefined) parkedKeys.add(key);
      if (isNew) parkedCount += 1;
      else repeatedCount += 1;
    };
    let mark: Mark | undefined;
    for (const reading of relevant) {
      if (reading.kind === "mark") {
        mark = reading;
        continue;
      }
      const key = storableKey(reading.record.key);
      if (reading.kind === "unreadable") {
        await park(reading, reading.reason);
      } else if (key !== undefined && parkedKeys.has(key)) {
        await park(reading, parkedBehind);
      } else {
        applied.push(reading);
      }
    }
    const afterCommits = await applyEvents(tx, group, applied);
    if (mark !== undefined) await keepMark(tx, group, mark);
    return { applied, repeatedCount, ignoredCount, parkedCount, afterCommits };
  });
};

const parkAlone = (applier: Applier, lone: Reading, reason: string): Promise<ChunkOutcome> => {
  const { group, clock } = applier;
  return settle(applier, [lone], async (tx, [reading]) => {
    if (reading === undefined) return nothingDone;
    const isNew = await parkRecord(tx, { group, reading, reason, parkedAt: clock.now() });
    return isNew ? { ...nothingDone, parkedCount: 1 } : { ...nothingDone, repeatedCount: 1 };
  });
};

/**
 * Runs work on those records that lie behind the group's position, and moves that, in one
 * transaction. The others were applied by a member that had them before.
 */
const settle = async (
  { pool, positions }: Applier,
  readings: readonly Reading[],
  work: (tx: Transaction, fresh: readonly Reading[], moved: Moved) => Promise<ChunkOutcome>,
): Promise<ChunkOutcome> => {
  const records = readings.map(({ record }) => record);
  const [first] = records;
  if (first === undefined) return nothingDone;
  if (first.log === undefined && readings.every(({ kind }) => kind === "ignored")) {
    return { ...nothingDone, ignoredCount: readings.length };
  }
  const { outcome, moved } = await transact(pool, async (tx) => {
    const moved = await positions.move(tx, records, keysOf(readings));
    const outcome = await work(tx, readings.slice(moved.appliedCount), moved);
    return { outcome, moved };
  });
  if (moved.position !== undefined) positions.committed(first, moved.position);
  return { ...outcome, repeatedCount: outcome.repeatedCount + moved.appliedCount };
};
