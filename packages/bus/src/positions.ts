import { createHash } from "node:crypto";
import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Pool, type Transaction, VoidRow } from "@payment-links/postgres";
import type {
  PartitionLog,
  TopicPartition,
  Position,
  PositionStore,
  ReceivedRecord,
} from "./bus.ts";
import { selectBlockedKeys } from "./blocked-keys.ts";

/**
 * Thrown in three cases:
 * - The member is ahead of its database, for example because a lagging standby took over without
 *   the latest commits.
 * - The records belong to a log that the group no longer reads.
 * - The log was replaced.
 */
export class PositionBehindError extends Error {
  override readonly name = "PositionBehindError";
  readonly reason: "behind" | "log_lost";

  constructor(message: string, reason: PositionBehindError["reason"] = "behind") {
    super(message);
    this.reason = reason;
  }
}

/** The positions of one group, and this process's last known copy of them. */
export type GroupPositions = PositionStore & {
  /**
   * Locks the positions of several partitions and advances each one past a run of consecutive
   * records. For each run, returns how many of its first records are already applied, and the
   * resulting position. If the positions match the known ones, a single statement advances them all
   * and also returns the keys that have dead letters.
   */
  move(tx: Transaction, runs: readonly RecordRun[]): Promise<MoveResult[]>;
  /** Caches a committed position. */
  onCommitted(topicPartition: TopicPartition, position: Position): void;
};

/** Consecutive records of one partition, and their keys. */
type RecordRun = { records: readonly ReceivedRecord[]; keys: readonly string[] };

/** `blockedKeys` is undefined if it was not queried yet. */
export type MoveResult = {
  appliedCount: number;
  position: Position | undefined;
  blockedKeys?: Set<string>;
};

const PositionRow = z.object({
  clusterId: z.string(),
  resetCount: z.int(),
  nextOffset: z.string(),
  lastRecord: z.string().nullable(),
});
const PartitionRow = z.object({ partition: z.int(), ...PositionRow.shape });

/** Stores the positions of a group in its service's schema. */
export const createGroupPositions = (options: {
  pool: Pool;
  group: string;
  /** Called when a read fails. */
  onWait: () => void;
}): GroupPositions => {
  const { pool, group, onWait } = options;
  const knownPositions = new Map<string, Position>();
  return {
    read: (topic) =>
      readPositions(pool, group, topic).catch((error: unknown) => {
        onWait();
        throw error;
      }),
    replace: (topicPartition, { from, to }) =>
      replacePosition(pool, group, { topicPartition, from, to }),
    onSeek: (topicPartition, position) =>
      void knownPositions.set(toPartitionKey(topicPartition), position),
    move: (tx, runs) => movePositions(tx, { group, knownPositions, runs }),
    onCommitted: (topicPartition, position) => {
      const knownPosition = knownPositions.get(toPartitionKey(topicPartition));
      if (knownPosition === undefined || isBehind(knownPosition, position))
        knownPositions.set(toPartitionKey(topicPartition), position);
    },
  };
};

/** An older release updates only the offset, so the record before it is unknown. */
const columns = sql.fragment`
  cluster_id AS "clusterId", reset_count AS "resetCount", next_offset AS "nextOffset",
  CASE WHEN last_offset = next_offset - 1 THEN last_record END AS "lastRecord"
`;

const readPositions = async (
  db: Db,
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, Position>> => {
  const rows = await db.any(sql.type(PartitionRow)`
    SELECT partition, ${columns} FROM positions
    WHERE consumer = ${group} AND topic = ${topic}
  `);
  return new Map(rows.map(({ partition, ...row }) => [partition, toPosition(row)]));
};

const toPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

const toPosition = ({
  lastRecord,
  nextOffset,
  ...log
}: z.output<typeof PositionRow>): Position => ({
  ...log,
  nextOffset: BigInt(nextOffset),
  ...(lastRecord === null ? {} : { lastRecord }),
});

/**
 * Returns a digest that identifies a record. It is the digest of the event id or, without one, of
 * the value.
 */
const hashRecord = ({ headers, value }: ReceivedRecord): string =>
  createHash("sha256")
    .update(headers["ce_id"] ?? value ?? "")
    .digest("base64url");

const isSameLog = (log: PartitionLog, otherLog: PartitionLog): boolean =>
  log.clusterId === otherLog.clusterId && log.resetCount === otherLog.resetCount;

/** Returns whether a position lies before another. Positions in different logs are never comparable. */
const isBehind = (position: Position, otherPosition: Position): boolean =>
  !isSameLog(position, otherPosition) || position.nextOffset < otherPosition.nextOffset;

type PositionMove = RecordRun & {
  topicPartition: TopicPartition;
  nextPosition: Required<Position>;
  /** The position that this process expects, in the log of these records. */
  knownPosition: Position | undefined;
};

const movePositions = async (
  tx: Transaction,
  options: {
    group: string;
    knownPositions: ReadonlyMap<string, Position>;
    runs: readonly RecordRun[];
  },
): Promise<MoveResult[]> => {
  const { group, knownPositions, runs } = options;
  const moves = runs.map((run) => planMove(run, knownPositions));
  const blockedKeysByPartition = await advanceKnownPositions(
    tx,
    group,
    moves.filter((move) => move !== undefined).filter(followsKnownPosition),
  );
  const moved: MoveResult[] = [];
  for (const positionMove of moves) {
    const blockedKeys =
      positionMove && blockedKeysByPartition.get(toPartitionKey(positionMove.topicPartition));
    if (positionMove === undefined) moved.push({ appliedCount: 0, position: undefined });
    else if (blockedKeys === undefined)
      moved.push(await moveLockedPosition(tx, group, positionMove));
    else moved.push({ appliedCount: 0, position: positionMove.nextPosition, blockedKeys });
  }
  return moved;
};

/** Returns undefined if the bus does not store records. */
const planMove = (
  run: RecordRun,
  knownPositions: ReadonlyMap<string, Position>,
): PositionMove | undefined => {
  const [first, last] = [run.records[0], run.records.at(-1)];
  if (first?.log === undefined || last === undefined) return undefined;
  const { log, partition, topic } = first;
  const topicPartition = { topic, partition };
  const candidate = knownPositions.get(toPartitionKey(topicPartition));
  const knownPosition =
    candidate !== undefined && isSameLog(candidate, log) ? candidate : undefined;
  const nextPosition = {
    ...log,
    nextOffset: BigInt(last.offset) + 1n,
    lastRecord: hashRecord(last),
  };
  return { ...run, topicPartition, nextPosition, knownPosition };
};

const followsKnownPosition = ({ knownPosition, records: [first] }: PositionMove): boolean =>
  knownPosition !== undefined && BigInt(first?.offset ?? 0) >= knownPosition.nextOffset;

/**
 * Advances a position that another member may have advanced, or that this process does not know
 * yet.
 */
const moveLockedPosition = async (
  tx: Transaction,
  group: string,
  { knownPosition, topicPartition, records, nextPosition }: PositionMove,
): Promise<MoveResult> => {
  const storedPosition = await lockPosition(tx, group, topicPartition);
  if (
    knownPosition !== undefined &&
    (storedPosition === undefined || isBehind(storedPosition, knownPosition))
  ) {
    throw new PositionBehindError("the stored position is behind what this consumer has committed");
  }
  if (storedPosition !== undefined && !isSameLog(storedPosition, nextPosition)) {
    throw new PositionBehindError(
      "the stored position belongs to a different log than these records",
    );
  }
  const appliedOffset = storedPosition?.nextOffset ?? 0n;
  const previousRecord = records.find(({ offset }) => BigInt(offset) === appliedOffset - 1n);
  const lastRecord = storedPosition?.lastRecord;
  if (
    previousRecord !== undefined &&
    lastRecord !== undefined &&
    hashRecord(previousRecord) !== lastRecord
  ) {
    throw new PositionBehindError(
      "the record before the position is not the last applied record",
      "log_lost",
    );
  }
  if (nextPosition.nextOffset <= appliedOffset)
    return { appliedCount: records.length, position: storedPosition };
  await writePosition(tx, group, { topicPartition, position: nextPosition });
  const firstNewIndex = records.findIndex(({ offset }) => BigInt(offset) >= appliedOffset);
  return { appliedCount: firstNewIndex, position: nextPosition };
};

const BlockedKeyRow = z.object({
  topic: z.string(),
  partition: z.int(),
  key: z.string().nullable(),
});

/**
 * Advances the positions that still match this process's known copy, which is nearly always the
 * case. Returns the keys with dead letters for each of these positions. A single statement locks,
 * writes and queries.
 *
 * The query cannot miss dead letters. A member that dead-letters a record also advances the
 * position, so earlier dead letters were committed before this position became known here.
 */
const advanceKnownPositions = async (
  tx: Transaction,
  group: string,
  moves: readonly PositionMove[],
): Promise<ReadonlyMap<string, Set<string>>> => {
  const blockedKeysByPartition = new Map<string, Set<string>>();
  if (moves.length === 0) return blockedKeysByPartition;
  const stepRows = moves.map(({ knownPosition, topicPartition, nextPosition }) => [
    topicPartition.topic,
    topicPartition.partition,
    nextPosition.clusterId,
    nextPosition.resetCount,
    String(knownPosition?.nextOffset),
    String(nextPosition.nextOffset),
    nextPosition.lastRecord,
  ]);
  const keys = moves.flatMap(({ keys, topicPartition }) =>
    keys.map((key) => [topicPartition.topic, topicPartition.partition, key]),
  );
  const blockedKeyRows = await tx.any(sql.prepared("advance_positions", BlockedKeyRow)`
    WITH moved AS (
      UPDATE positions AS kept SET next_offset = step.next_offset,
        last_offset = step.next_offset - 1, last_record = step.last_record
      FROM ${sql.unnest(stepRows, ["text", "int4", "text", "int4", "int8", "int8", "text"])} AS step
        (topic, partition, cluster_id, reset_count, from_offset, next_offset, last_record)
      WHERE kept.consumer = ${group} AND kept.topic = step.topic
        AND kept.partition = step.partition AND kept.cluster_id = step.cluster_id
        AND kept.reset_count = step.reset_count AND kept.next_offset = step.from_offset
      RETURNING kept.topic, kept.partition
    )
    SELECT moved.topic, moved.partition, parked.key
    FROM moved LEFT JOIN LATERAL (${selectBlockedKeys({ group, keys })}) AS parked
      ON parked.topic = moved.topic AND parked.partition = moved.partition
  `);
  for (const { topic, partition, key } of blockedKeyRows) {
    const partitionKey = toPartitionKey({ topic, partition });
    const blockedKeys = blockedKeysByPartition.get(partitionKey) ?? new Set();
    if (key !== null) blockedKeys.add(key);
    blockedKeysByPartition.set(partitionKey, blockedKeys);
  }
  return blockedKeysByPartition;
};

/**
 * Locks a position. After a rebalance, two members can hold the same records. The lock serializes
 * them, and the second member then sees how far the first one got.
 */
const lockPosition = async (
  tx: Transaction,
  group: string,
  { topic, partition }: TopicPartition,
): Promise<Position | undefined> => {
  const row = await tx.maybeOne(sql.prepared("lock_position", PositionRow)`
    SELECT ${columns} FROM positions
    WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
    FOR UPDATE
  `);
  return row === null ? undefined : toPosition(row);
};

/**
 * Stores a position, but never moves it backwards, because two members may start a partition at the
 * same time.
 */
const writePosition = async (
  tx: Transaction,
  group: string,
  { topicPartition, position }: { topicPartition: TopicPartition; position: Required<Position> },
): Promise<void> => {
  const { clusterId, lastRecord, nextOffset, resetCount } = position;
  await tx.query(sql.prepared("write_position", VoidRow)`
    INSERT INTO positions AS kept
      (consumer, topic, partition, cluster_id, reset_count, next_offset, last_offset, last_record)
    VALUES (${group}, ${topicPartition.topic}, ${topicPartition.partition}, ${clusterId}, ${resetCount},
            ${String(nextOffset)}::int8, ${String(nextOffset - 1n)}::int8, ${lastRecord})
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET next_offset = excluded.next_offset,
      last_offset = excluded.last_offset, last_record = excluded.last_record
    WHERE kept.next_offset < excluded.next_offset
  `);
};

const replacePosition = async (
  db: Db,
  group: string,
  {
    topicPartition,
    from,
    to,
  }: { topicPartition: TopicPartition; from: Position | undefined; to: Position },
): Promise<boolean> => {
  const { topic, partition } = topicPartition;
  const nextOffset = String(to.nextOffset);
  const { rowCount } =
    from === undefined
      ? await db.query(sql.type(VoidRow)`
          INSERT INTO positions (consumer, topic, partition, cluster_id, reset_count, next_offset)
          VALUES (${group}, ${topic}, ${partition}, ${to.clusterId}, ${to.resetCount},
                  ${nextOffset}::int8)
          ON CONFLICT DO NOTHING
        `)
      : await db.query(sql.type(VoidRow)`
          UPDATE positions SET cluster_id = ${to.clusterId}, reset_count = ${to.resetCount},
            next_offset = ${nextOffset}::int8, last_offset = NULL, last_record = NULL
          WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
            AND cluster_id = ${from.clusterId} AND reset_count = ${from.resetCount}
            AND next_offset = ${String(from.nextOffset)}::int8
        `);
  return rowCount > 0;
};
