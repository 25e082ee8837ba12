import { types } from "node:util";
import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";
import { applyEvents } from "./apply-events.ts";
import type { ParsedEvent, ParsedRecord } from "./cloud-event.ts";
import { storeDeadLetter, blockedReason } from "./dead-letters.ts";
import { classifyFailure } from "./failure.ts";
import { type Watermark, saveWatermark } from "./watermarks.ts";
import { getCreatedOutboxRowCount } from "./outbox.ts";
import { findBlockedKeys, getStorableKeys, toStorableKey } from "./blocked-keys.ts";
import { type GroupPositions, type MoveResult, PositionBehindError } from "./positions.ts";
import { retryAt } from "./retry-at.ts";

/** The result of applying one chunk, after its transaction has committed. */
export type ChunkResult = {
  appliedEvents: readonly ParsedEvent[];
  duplicateCount: number;
  ignoredCount: number;
  deadLetterCount: number;
  /** Whether the transaction may have written to the outbox. */
  hasPublished: boolean;
};

/** Consecutive records of one partition, to be processed until the signal aborts. */
export type Chunk = {
  parsedRecords: readonly ParsedRecord[];
  signal: AbortSignal;
  /** Called after each commit with the number of this chunk's records that were processed. */
  onProcessed: (count: number) => void;
};

/** The dependencies for applying a consumer's chunks. */
export type ConsumerContext = {
  pool: Pool;
  group: string;
  positions: GroupPositions;
  clock: Clock;
  log: Log;
  /** Called after each commit, once per partition with processed records. */
  onCommitted: (parsedRecords: readonly ParsedRecord[], result: ChunkResult) => void;
  onWait: () => void;
};

const unknownFailureAttemptsMax = 5;

const reportProcessed = (
  { onCommitted }: ConsumerContext,
  chunk: Chunk,
  result: ChunkResult,
): void => {
  chunk.onProcessed(chunk.parsedRecords.length);
  onCommitted(chunk.parsedRecords, result);
};

/**
 * Applies chunks of several partitions in one transaction. Returns false if the transaction fails
 * and nothing was committed.
 */
export const applyChunks = async (
  context: ConsumerContext,
  chunks: readonly Chunk[],
): Promise<boolean> => {
  let results: readonly ChunkResult[];
  try {
    results = await applyInOneTransaction(
      context,
      chunks.map(({ parsedRecords }) => parsedRecords),
    );
  } catch (error) {
    const logFields = { err: error, partitions: chunks.length };
    context.log.warn(
      logFields,
      "partitions could not be applied together, applying each separately",
    );
    return false;
  }
  for (const [index, chunk] of chunks.entries())
    reportProcessed(context, chunk, results[index] ?? emptyResult);
  return true;
};

/**
 * Processes the records of one partition in order. Each record is applied, skipped as a duplicate,
 * ignored or dead-lettered. The same transaction advances the group's position.
 *
 * The first attempt applies all records in one transaction. If a record makes that transaction
 * fail, each half is retried separately until the failing record is alone, and only that record is
 * dead-lettered. This takes few transactions even for a large chunk.
 *
 * Waits while the database is unavailable. Throws only if the group must rewind
 * (`PositionBehindError`), if the signal aborts during a wait, or on a bug in the consumer itself.
 */
export const applyChunk = async (context: ConsumerContext, chunk: Chunk): Promise<void> => {
  const { parsedRecords, signal } = chunk;
  const [first, ...remainingRecords] = parsedRecords;
  if (first === undefined || signal.aborted) return;
  if (remainingRecords.length === 0) return applySingleRecord(context, chunk, first);
  try {
    return reportProcessed(
      context,
      chunk,
      await retryTransient(context, signal, () => applyWholeChunk(context, chunk)),
    );
  } catch (error) {
    if (signal.aborted || error instanceof PositionBehindError) throw error;
    context.log.warn({ err: error }, "chunk failed, retrying each half separately");
  }
  const half = Math.ceil(parsedRecords.length / 2);
  await applyChunk(context, { ...chunk, parsedRecords: parsedRecords.slice(0, half) });
  await applyChunk(context, { ...chunk, parsedRecords: parsedRecords.slice(half) });
};

const applySingleRecord = async (
  context: ConsumerContext,
  chunk: Chunk,
  parsedRecord: ParsedRecord,
): Promise<void> => {
  const { signal } = chunk;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return reportProcessed(
        context,
        chunk,
        await retryTransient(context, signal, () => applyWholeChunk(context, chunk)),
      );
    } catch (error) {
      if (signal.aborted || error instanceof PositionBehindError) throw error;
      if (classifyFailure(error) === "permanent" || attempt >= unknownFailureAttemptsMax) {
        return deadLetterRecord(context, chunk, parsedRecord, error);
      }
      await waitBeforeRetry(context, signal, { error, failures: attempt });
      if (signal.aborted) throw error;
    }
  }
};

/**
 * Dead-letters one record. Retries without a limit, because a failure here is never caused by the
 * record.
 */
const deadLetterRecord = async (
  context: ConsumerContext,
  chunk: Chunk,
  parsedRecord: ParsedRecord,
  error: unknown,
): Promise<void> => {
  const reason = formatError(error);
  const { topic, partition, offset } = parsedRecord.record;
  context.log.error({ err: error, topic, partition, offset }, "record dead-lettered");
  const result = await retryTransient(
    context,
    chunk.signal,
    () => storeSingleDeadLetter(context, parsedRecord, reason),
    (error) => !(error instanceof PositionBehindError),
  );
  reportProcessed(context, chunk, result);
};

const formatError = (error: unknown): string =>
  types.isNativeError(error)
    ? `${error.name}: ${error.message}`
    : "a value that is no error was thrown";

/** Retries the operation after each transient failure, until the signal aborts. */
const retryTransient = async <Result>(
  context: ConsumerContext,
  signal: AbortSignal,
  operation: () => Promise<Result>,
  isRetryable = (error: unknown) => classifyFailure(error) === "transient",
): Promise<Result> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await operation();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await waitBeforeRetry(context, signal, { error, failures });
      if (signal.aborted) throw error;
    }
  }
};

const waitBeforeRetry = async (
  { clock, log, onWait }: ConsumerContext,
  signal: AbortSignal,
  { error, failures }: { error: unknown; failures: number },
): Promise<void> => {
  onWait();
  log.warn({ err: error, failures }, "records could not be applied, retrying");
  await clock.sleepUntil(retryAt(clock, failures), signal);
};

const emptyResult: ChunkResult = {
  appliedEvents: [],
  duplicateCount: 0,
  ignoredCount: 0,
  deadLetterCount: 0,
  hasPublished: false,
};

const applyWholeChunk = async (
  context: ConsumerContext,
  { parsedRecords }: Chunk,
): Promise<ChunkResult> =>
  (await applyInOneTransaction(context, [parsedRecords]))[0] ?? emptyResult;

const applyInOneTransaction = (
  context: ConsumerContext,
  chunks: readonly (readonly ParsedRecord[])[],
): Promise<ChunkResult[]> =>
  commitChunks(context, chunks, async (tx, parts) => {
    const classifiedParts: ClassifiedPart[] = [];
    for (const part of parts) classifiedParts.push(await classifyRecords(context, tx, part));
    const appliedEvents = classifiedParts.flatMap(({ result }) => result.appliedEvents);
    await applyEvents(tx, context.group, appliedEvents);
    for (const { watermark } of classifiedParts) {
      if (watermark !== undefined) await saveWatermark(tx, context.group, watermark);
    }
    return classifiedParts.map(({ result }) => result);
  });

/**
 * The records of one partition that follow the group's position, and the result of advancing that
 * position.
 */
type ChunkPart = { newRecords: readonly ParsedRecord[]; moveResult: MoveResult };

type ClassifiedPart = { result: ChunkResult; watermark: Watermark | undefined };

/** Selects the events to apply, and dead-letters unreadable records and records with a blocked key. */
const classifyRecords = async (
  { group, clock }: ConsumerContext,
  tx: Transaction,
  { newRecords, moveResult }: ChunkPart,
): Promise<ClassifiedPart> => {
  const relevantRecords = newRecords.filter((parsedRecord) => parsedRecord.kind !== "ignored");
  const ignoredCount = newRecords.length - relevantRecords.length;
  const topic = relevantRecords[0]?.record.topic;
  if (topic === undefined)
    return { result: { ...emptyResult, ignoredCount }, watermark: undefined };
  const blockedKeys =
    moveResult.blockedKeys ??
    (await findBlockedKeys(tx, { group, topic, parsedRecords: relevantRecords }));
  const appliedEvents: ParsedEvent[] = [];
  let deadLetterCount = 0;
  let duplicateCount = 0;
  const deadLetter = async (parsedRecord: ParsedRecord, reason: string) => {
    const isNew = await storeDeadLetter(tx, {
      group,
      parsedRecord,
      reason,
      deadLetteredAt: clock.now(),
    });
    const key = toStorableKey(parsedRecord.record.key);
    if (key !== undefined) blockedKeys.add(key);
    if (isNew) deadLetterCount += 1;
    else duplicateCount += 1;
  };
  let watermark: Watermark | undefined;
  for (const parsedRecord of relevantRecords) {
    if (parsedRecord.kind === "mark") {
      watermark = parsedRecord;
      continue;
    }
    const key = toStorableKey(parsedRecord.record.key);
    if (parsedRecord.kind === "unreadable") {
      await deadLetter(parsedRecord, parsedRecord.reason);
    } else if (key !== undefined && blockedKeys.has(key)) {
      await deadLetter(parsedRecord, blockedReason);
    } else {
      appliedEvents.push(parsedRecord);
    }
  }
  const result = { ...emptyResult, appliedEvents, ignoredCount, deadLetterCount, duplicateCount };
  return { result, watermark };
};

const storeSingleDeadLetter = async (
  context: ConsumerContext,
  parsedRecord: ParsedRecord,
  reason: string,
): Promise<ChunkResult> => {
  const { group, clock } = context;
  const [result] = await commitChunks(context, [[parsedRecord]], async (tx, [part]) => {
    const [newRecord] = part?.newRecords ?? [];
    if (newRecord === undefined) return [emptyResult];
    const isNew = await storeDeadLetter(tx, {
      group,
      parsedRecord: newRecord,
      reason,
      deadLetteredAt: clock.now(),
    });
    return [{ ...emptyResult, ...(isNew ? { deadLetterCount: 1 } : { duplicateCount: 1 }) }];
  });
  return result ?? emptyResult;
};

/**
 * Runs the operation on the records that follow the group's positions, and advances the positions
 * in the same transaction. Skips earlier records, because another member has already applied them.
 */
const commitChunks = async (
  { pool, positions }: ConsumerContext,
  chunks: readonly (readonly ParsedRecord[])[],
  operation: (tx: Transaction, parts: readonly ChunkPart[]) => Promise<ChunkResult[]>,
): Promise<ChunkResult[]> => {
  if (chunks.every(isNoop)) {
    return chunks.map((parsedRecords) => ({ ...emptyResult, ignoredCount: parsedRecords.length }));
  }
  const recordRuns = chunks.map((parsedRecords) => ({
    records: parsedRecords.map(({ record }) => record),
    keys: getStorableKeys(parsedRecords),
  }));
  const outboxRowCountBefore = getCreatedOutboxRowCount();
  const { results, moveResults } = await transact(pool, async (tx) => {
    const moveResults = await positions.move(tx, recordRuns);
    const parts = moveResults.map((moved, index) => ({
      newRecords: chunks[index]?.slice(moved.appliedCount) ?? [],
      moveResult: moved,
    }));
    return { results: await operation(tx, parts), moveResults };
  });
  const hasWrittenOutbox = getCreatedOutboxRowCount() !== outboxRowCountBefore;
  return results.map((result, index) => {
    const [moveResult, firstRecord] = [moveResults[index], recordRuns[index]?.records[0]];
    if (moveResult === undefined || firstRecord === undefined) return result;
    if (moveResult.position !== undefined) positions.onCommitted(firstRecord, moveResult.position);
    const duplicateCount = result.duplicateCount + moveResult.appliedCount;
    const hasPublished = result.deadLetterCount > 0 || (hasWrittenOutbox && index === 0);
    return { ...result, hasPublished, duplicateCount };
  });
};

/** Returns whether there is no event to apply and no position to advance. */
const isNoop = (parsedRecords: readonly ParsedRecord[]): boolean =>
  parsedRecords[0]?.record.log === undefined &&
  parsedRecords.every(({ kind }) => kind === "ignored");
