import { types } from "node:util";
import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";
import { applyEvents } from "./apply-events.ts";
import type { EventReading, Reading } from "./cloud-event.ts";
import { parkRecord, parkedBehind } from "./dead-letters.ts";
import { classifyFailure } from "./failure.ts";
import { type Mark, keepMark } from "./marks.ts";
import { countOutboxRowsMade } from "./outbox.ts";
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
  /** Whether it may have written to the outbox. */
  hasTold: boolean;
};

/** Records of one partition that follow one another, to be settled as far as the signal lets them. */
export type Chunk = {
  readings: readonly Reading[];
  signal: AbortSignal;
  /** Called after each commit with the number of its records that it settled. */
  settled: (count: number) => void;
};

/** A consumer as its chunks see it. */
export type Applier = {
  pool: Pool;
  group: string;
  positions: GroupPositions;
  clock: Clock;
  log: Log;
  /** Called after each commit, for each partition that it settled records of. */
  committed: (readings: readonly Reading[], outcome: ChunkOutcome) => void;
  waited: () => void;
};

const unknownTriesMax = 5;

const settled = ({ committed }: Applier, chunk: Chunk, outcome: ChunkOutcome): void => {
  chunk.settled(chunk.readings.length);
  committed(chunk.readings, outcome);
};

/**
 * Settles chunks of several partitions in one transaction, if nothing is wrong with them. Answers
 * whether it did; if not, nothing has happened.
 */
export const applyChunks = async (applier: Applier, chunks: readonly Chunk[]): Promise<boolean> => {
  let outcomes: readonly ChunkOutcome[];
  try {
    outcomes = await applyTogether(
      applier,
      chunks.map(({ readings }) => readings),
    );
  } catch (error) {
    const told = { err: error, partitions: chunks.length };
    applier.log.warn(told, "partitions could not be applied together; each is applied by itself");
    return false;
  }
  for (const [at, chunk] of chunks.entries()) settled(applier, chunk, outcomes[at] ?? nothingDone);
  return true;
};

/**
 * Settles a chunk of one partition's records in order: each is applied, found to be a repeat, let
 * through or set aside. It tries all of them in one transaction. If one record makes that fail, it
 * tries each half, so that only that record is set aside, and the others cost few transactions. It
 * waits for a database that is away. The same transaction moves the group's position. Throws only if
 * that lies before these records, if the signal aborts during a wait, or at a defect of ours.
 */
export const applyChunk = async (applier: Applier, chunk: Chunk): Promise<void> => {
  const { readings, signal } = chunk;
  const [first, ...others] = readings;
  if (first === undefined || signal.aborted) return;
  if (others.length === 0) return applySingly(applier, chunk, first);
  try {
    return settled(applier, chunk, await outlast(applier, signal, () => applyOne(applier, chunk)));
  } catch (error) {
    if (signal.aborted || error instanceof PositionBehind) throw error;
    applier.log.warn({ err: error }, "a chunk failed; its halves are applied one after the other");
  }
  const half = Math.ceil(readings.length / 2);
  await applyChunk(applier, { ...chunk, readings: readings.slice(0, half) });
  await applyChunk(applier, { ...chunk, readings: readings.slice(half) });
};

const applySingly = async (applier: Applier, chunk: Chunk, reading: Reading): Promise<void> => {
  const { signal } = chunk;
  for (let tries = 1; ; tries += 1) {
    try {
      return settled(
        applier,
        chunk,
        await outlast(applier, signal, () => applyOne(applier, chunk)),
      );
    } catch (error) {
      if (signal.aborted || error instanceof PositionBehind) throw error;
      if (classifyFailure(error) === "permanent" || tries >= unknownTriesMax) {
        return setAside(applier, chunk, reading, error);
      }
      await pause(applier, signal, { error, failures: tries });
      if (signal.aborted) throw error;
    }
  }
};

/** A failure here is not the record's fault, so it is tried for ever. */
const setAside = async (
  applier: Applier,
  chunk: Chunk,
  reading: Reading,
  error: unknown,
): Promise<void> => {
  const reason = tell(error);
  const { topic, partition, offset } = reading.record;
  applier.log.error({ err: error, topic, partition, offset }, "a record is set aside");
  const outcome = await outlast(
    applier,
    chunk.signal,
    () => parkAlone(applier, reading, reason),
    (error) => !(error instanceof PositionBehind),
  );
  settled(applier, chunk, outcome);
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
  hasTold: false,
};

const applyOne = async (applier: Applier, { readings }: Chunk): Promise<ChunkOutcome> =>
  (await applyTogether(applier, [readings]))[0] ?? nothingDone;

const applyTogether = (
  applier: Applier,
  chunks: readonly (readonly Reading[])[],
): Promise<ChunkOutcome[]> =>
  settle(applier, chunks, async (tx, parts) => {
    const sifted: Sifted[] = [];
    for (const part of parts) sifted.push(await sift(applier, tx, part));
    const applied = sifted.flatMap(({ outcome }) => outcome.applied);
    const afterCommits = await applyEvents(tx, applier.group, applied);
    for (const { mark } of sifted) {
      if (mark !== undefined) await keepMark(tx, applier.group, mark);
    }
    // What is to be done after the commit is to be done once.
    return sifted.map(({ outcome }, at) => (at === 0 ? { ...outcome, afterCommits } : outcome));
  });

/** Records of one partition that lie behind the group's position, which was moved behind them. */
type Part = { fresh: readonly Reading[]; moved: Moved };

type Sifted = { outcome: ChunkOutcome; mark: Mark | undefined };

/** Finds what is to be applied, and parks what must wait. */
const sift = async (
  { group, clock }: Applier,
  tx: Transaction,
  { fresh, moved }: Part,
): Promise<Sifted> => {
  const relevant = fresh.filter((reading) => reading.kind !== "ignored");
  const ignoredCount = fresh.length - relevant.length;
  const topic = relevant[0]?.record.topic;
  if (topic === undefined) return { outcome: { ...nothingDone, ignoredCount }, mark: undefined };
  const parkedKeys =
    moved.parkedKeys ?? (await findParkedKeys(tx, { group, topic, readings: relevant }));
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
  const outcome = { ...nothingDone, applied, ignoredCount, parkedCount, repeatedCount };
  return { outcome, mark };
};

const parkAlone = async (
  applier: Applier,
  lone: Reading,
  reason: string,
): Promise<ChunkOutcome> => {
  const { group, clock } = applier;
  const [outcome] = await settle(applier, [[lone]], async (tx, [part]) => {
    const [reading] = part?.fresh ?? [];
    if (reading === undefined) return [nothingDone];
    const isNew = await parkRecord(tx, { group, reading, reason, parkedAt: clock.now() });
    return [{ ...nothingDone, ...(isNew ? { parkedCount: 1 } : { repeatedCount: 1 }) }];
  });
  return outcome ?? nothingDone;
};

/**
 * Runs work on those records that lie behind the group's positions, and moves these, in one
 * transaction. The others were applied by a member that had them before.
 */
const settle = async (
  { pool, positions }: Applier,
  chunks: readonly (readonly Reading[])[],
  work: (tx: Transaction, parts: readonly Part[]) => Promise<ChunkOutcome[]>,
): Promise<ChunkOutcome[]> => {
  if (chunks.every(isNothing)) {
    return chunks.map((readings) => ({ ...nothingDone, ignoredCount: readings.length }));
  }
  const runs = chunks.map((readings) => ({
    records: readings.map(({ record }) => record),
    keys: keysOf(readings),
  }));
  const madeBefore = countOutboxRowsMade();
  const { outcomes, moves } = await transact(pool, async (tx) => {
    const moves = await positions.move(tx, runs);
    const parts = moves.map((moved, at) => ({
      fresh: chunks[at]?.slice(moved.appliedCount) ?? [],
      moved,
    }));
    return { outcomes: await work(tx, parts), moves };
  });
  const hasMade = countOutboxRowsMade() !== madeBefore;
  return outcomes.map((outcome, at) => {
    const [moved, first] = [moves[at], runs[at]?.records[0]];
    if (moved === undefined || first === undefined) return outcome;
    if (moved.position !== undefined) positions.committed(first, moved.position);
    const repeatedCount = outcome.repeatedCount + moved.appliedCount;
    const hasTold = outcome.parkedCount > 0 || (hasMade && at === 0);
    return { ...outcome, hasTold, repeatedCount };
  });
};

/** Nothing of it is to be applied, and there is no position to move. */
const isNothing = (readings: readonly Reading[]): boolean =>
  readings[0]?.record.log === undefined && readings.every(({ kind }) => kind === "ignored");
