import { createHash } from "node:crypto";
import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Pool, type Transaction, NothingRow } from "@payment-links/postgres";
import type { PartitionLog, Place, Position, PositionStore, ReceivedRecord } from "./bus.ts";
import { selectParkedKeys } from "./parked-keys.ts";

/**
 * Thrown where a consumer has come further than its database knows: commits were lost, as when a
 * standby takes over that lagged behind. What it holds comes too early. Thrown also where what it
 * holds is of a log that the group no longer reads, and where that log is not the one it was.
 */
export class PositionBehind extends Error {
  override readonly name = "PositionBehind";
  readonly reason: "behind" | "log_lost";

  constructor(message: string, reason: PositionBehind["reason"] = "behind") {
    super(message);
    this.reason = reason;
  }
}

/** The positions of one group, and what this process last knew of them. */
export type GroupPositions = PositionStore & {
  /**
   * Locks the positions of some partitions and moves each behind records of it that follow one another.
   * Answers for each how many of them, from the first on, are applied already, and the position that
   * then holds. Where positions are those that are known, one statement moves all of them and says
   * which keys have parked records.
   */
  move(tx: Transaction, runs: readonly Run[]): Promise<Moved[]>;
  /** Remembers a position that is committed. */
  committed(place: Place, position: Position): void;
};

/** Records of one partition that follow one another, and their keys. */
type Run = { records: readonly ReceivedRecord[]; keys: readonly string[] };

/** `parkedKeys` is undefined where they were not asked for yet. */
export type Moved = {
  appliedCount: number;
  position: Position | undefined;
  parkedKeys?: Set<string>;
};

const PositionRow = z.object({
  clusterId: z.string(),
  resetCount: z.int(),
  nextOffset: z.string(),
  lastRecord: z.string().nullable(),
});
const PartitionRow = z.object({ partition: z.int(), ...PositionRow.shape });

/** Keeps the positions of a group in its service's schema. */
export const createPositions = (options: {
  pool: Pool;
  group: string;
  /** Called where they cannot be read yet. */
  waited: () => void;
}): GroupPositions => {
  const { pool, group, waited } = options;
  const known = new Map<string, Position>();
  return {
    read: (topic) =>
      read(pool, group, topic).catch((error: unknown) => {
        waited();
        throw error;
      }),
    replace: (place, { from, to }) => replace(pool, group, { place, from, to }),
    begin: (place, position) => void known.set(nameOf(place), position),
    move: (tx, runs) => move(tx, { group, known, runs }),
    committed: (place, position) => {
      const before = known.get(nameOf(place));
      if (before === undefined || isBehind(before, position)) known.set(nameOf(place), position);
    },
  };
};

/** An older release writes an offset alone: then nothing is known of the record before it. */
const columns = sql.fragment`
  cluster_id AS "clusterId", reset_count AS "resetCount", next_offset AS "nextOffset",
  CASE WHEN last_offset = next_offset - 1 THEN last_record END AS "lastRecord"
`;

const read = async (
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

const nameOf = ({ topic, partition }: Place): string => `${topic}/${partition}`;

const toPosition = ({
  lastRecord,
  nextOffset,
  ...log
}: z.output<typeof PositionRow>): Position => ({
  ...log,
  nextOffset: BigInt(nextOffset),
  ...(lastRecord === null ? {} : { lastRecord }),
});

/** Names a record well enough to know it again: by its event's id, or by what it holds. */
const nameRecord = ({ headers, value }: ReceivedRecord): string =>
  createHash("sha256")
    .update(headers["ce_id"] ?? value ?? "")
    .digest("base64url");

const isOneLog = (one: PartitionLog, other: PartitionLog): boolean =>
  one.clusterId === other.clusterId && one.resetCount === other.resetCount;

/** Whether one position lies before another. Those of two logs cannot be compared. */
const isBehind = (one: Position, other: Position): boolean =>
  !isOneLog(one, other) || one.nextOffset < other.nextOffset;

type Move = Run & {
  place: Place;
  to: Required<Position>;
  /** Where this process knows the position to be, in the log that the records are of. */
  here: Position | undefined;
};

const move = async (
  tx: Transaction,
  options: { group: string; known: ReadonlyMap<string, Position>; runs: readonly Run[] },
): Promise<Moved[]> => {
  const { group, known, runs } = options;
  const moves = runs.map((run) => readMove(run, known));
  const advanced = await advance(
    tx,
    group,
    moves.filter((one) => one !== undefined).filter(isNext),
  );
  const moved: Moved[] = [];
  for (const one of moves) {
    const parkedKeys = one && advanced.get(nameOf(one.place));
    if (one === undefined) moved.push({ appliedCount: 0, position: undefined });
    else if (parkedKeys === undefined) moved.push(await moveFromElsewhere(tx, group, one));
    else moved.push({ appliedCount: 0, position: one.to, parkedKeys });
  }
  return moved;
};

/** Undefined where the bus keeps nothing to come back to. */
const readMove = (run: Run, known: ReadonlyMap<string, Position>): Move | undefined => {
  const [first, last] = [run.records[0], run.records.at(-1)];
  if (first?.log === undefined || last === undefined) return undefined;
  const { log, partition, topic } = first;
  const place = { topic, partition };
  const at = known.get(nameOf(place));
  const here = at !== undefined && isOneLog(at, log) ? at : undefined;
  const to = { ...log, nextOffset: BigInt(last.offset) + 1n, lastRecord: nameRecord(last) };
  return { ...run, place, to, here };
};

const isNext = ({ here, records: [first] }: Move): boolean =>
  here !== undefined && BigInt(first?.offset ?? 0) >= here.nextOffset;

/** Moves a position that another member may have moved, or that is not known here yet. */
const moveFromElsewhere = async (
  tx: Transaction,
  group: string,
  { here, place, records, to }: Move,
): Promise<Moved> => {
  const kept = await lock(tx, group, place);
  if (here !== undefined && (kept === undefined || isBehind(kept, here))) {
    throw new PositionBehind("the database knows less than this consumer has committed");
  }
  if (kept !== undefined && !isOneLog(kept, to)) {
    throw new PositionBehind("the group reads another log than these records are of");
  }
  const applied = kept?.nextOffset ?? 0n;
  const before = records.find(({ offset }) => BigInt(offset) === applied - 1n);
  const lastRecord = kept?.lastRecord;
  if (before !== undefined && lastRecord !== undefined && nameRecord(before) !== lastRecord) {
    throw new PositionBehind(
      "another record lies before the position than was applied",
      "log_lost",
    );
  }
  if (to.nextOffset <= applied) return { appliedCount: records.length, position: kept };
  await write(tx, group, { place, position: to });
  const fresh = records.findIndex(({ offset }) => BigInt(offset) >= applied);
  return { appliedCount: fresh, position: to };
};

const ParkedRow = z.object({
  topic: z.string(),
  partition: z.int(),
  key: z.string().nullable(),
});

/**
 * Moves those positions that are still where this process knows them to be, which they nearly always
 * are, and answers for each of them which keys have parked records. One statement does for locking,
 * writing and asking, and sees what was parked: who parks moves the position with it, so all that was
 * parked before this position was committed before it was known here.
 */
const advance = async (
  tx: Transaction,
  group: string,
  moves: readonly Move[],
): Promise<ReadonlyMap<string, Set<string>>> => {
  const advanced = new Map<string, Set<string>>();
  if (moves.length === 0) return advanced;
  const steps = moves.map(({ here, place, to }) => [
    place.topic,
    place.partition,
    to.clusterId,
    to.resetCount,
    String(here?.nextOffset),
    String(to.nextOffset),
    to.lastRecord,
  ]);
  const keys = moves.flatMap(({ keys, place }) =>
    keys.map((key) => [place.topic, place.partition, key]),
  );
  const rows = await tx.any(sql.prepared("advance_positions", ParkedRow)`
    WITH moved AS (
      UPDATE positions AS kept SET next_offset = step.next_offset,
        last_offset = step.next_offset - 1, last_record = step.last_record
      FROM ${sql.unnest(steps, ["text", "int4", "text", "int4", "int8", "int8", "text"])} AS step
        (topic, partition, cluster_id, reset_count, from_offset, next_offset, last_record)
      WHERE kept.consumer = ${group} AND kept.topic = step.topic
        AND kept.partition = step.partition AND kept.cluster_id = step.cluster_id
        AND kept.reset_count = step.reset_count AND kept.next_offset = step.from_offset
      RETURNING kept.topic, kept.partition
    )
    SELECT moved.topic, moved.partition, parked.key
    FROM moved LEFT JOIN LATERAL (${selectParkedKeys({ group, keys })}) AS parked
      ON parked.topic = moved.topic AND parked.partition = moved.partition
  `);
  for (const { topic, partition, key } of rows) {
    const name = nameOf({ topic, partition });
    const parked = advanced.get(name) ?? new Set();
    if (key !== null) parked.add(key);
    advanced.set(name, parked);
  }
  return advanced;
};

/**
 * The lock makes members take turns that hold the same records, as they may after a rebalance. The
 * later one then finds how far the other came.
 */
const lock = async (
  tx: Transaction,
  group: string,
  { topic, partition }: Place,
): Promise<Position | undefined> => {
  const row = await tx.maybeOne(sql.prepared("lock_position", PositionRow)`
    SELECT ${columns} FROM positions
    WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
    FOR UPDATE
  `);
  return row === null ? undefined : toPosition(row);
};

/** Never backwards, where two members begin a partition at once. */
const write = async (
  tx: Transaction,
  group: string,
  { place, position }: { place: Place; position: Required<Position> },
): Promise<void> => {
  const { clusterId, lastRecord, nextOffset, resetCount } = position;
  await tx.query(sql.prepared("write_position", NothingRow)`
    INSERT INTO positions AS kept
      (consumer, topic, partition, cluster_id, reset_count, next_offset, last_offset, last_record)
    VALUES (${group}, ${place.topic}, ${place.partition}, ${clusterId}, ${resetCount},
            ${String(nextOffset)}::int8, ${String(nextOffset - 1n)}::int8, ${lastRecord})
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET next_offset = excluded.next_offset,
      last_offset = excluded.last_offset, last_record = excluded.last_record
    WHERE kept.next_offset < excluded.next_offset
  `);
};

const replace = async (
  db: Db,
  group: string,
  { place, from, to }: { place: Place; from: Position | undefined; to: Position },
): Promise<boolean> => {
  const { topic, partition } = place;
  const nextOffset = String(to.nextOffset);
  const { rowCount } =
    from === undefined
      ? await db.query(sql.type(NothingRow)`
          INSERT INTO positions (consumer, topic, partition, cluster_id, reset_count, next_offset)
          VALUES (${group}, ${topic}, ${partition}, ${to.clusterId}, ${to.resetCount},
                  ${nextOffset}::int8)
          ON CONFLICT DO NOTHING
        `)
      : await db.query(sql.type(NothingRow)`
          UPDATE positions SET cluster_id = ${to.clusterId}, reset_count = ${to.resetCount},
            next_offset = ${nextOffset}::int8, last_offset = NULL, last_record = NULL
          WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
            AND cluster_id = ${from.clusterId} AND reset_count = ${from.resetCount}
            AND next_offset = ${String(from.nextOffset)}::int8
        `);
  return rowCount > 0;
};
