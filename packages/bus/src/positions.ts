import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Pool, type Transaction, NothingRow } from "@payment-links/postgres";
import type { Place, Position, PositionStore, ReceivedRecord } from "./bus.ts";

/**
 * Thrown where a consumer has come further than its database knows: commits were lost, as when a
 * standby takes over that lagged behind. What it holds comes too early.
 */
export class PositionBehind extends Error {
  override readonly name = "PositionBehind";
}

/** The positions of one group, and what this process last knew of them. */
export type GroupPositions = PositionStore & {
  /**
   * Locks the partition's position and moves it behind some records that follow one another. Answers
   * how many of them, from the first on, are applied already, and the position that then holds.
   */
  move(tx: Transaction, records: readonly ReceivedRecord[]): Promise<Moved>;
  /** Remembers a position that is committed. */
  committed(place: Place, position: Position): void;
};

export type Moved = { appliedCount: number; position: Position | undefined };

const PositionRow = z.object({ clusterId: z.string(), nextOffset: z.string() });
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
    move: (tx, records) => move(tx, { group, known, records }),
    committed: (place, position) => {
      const before = known.get(nameOf(place));
      if (before === undefined || isBehind(before, position)) known.set(nameOf(place), position);
    },
  };
};

const read = async (
  db: Db,
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, Position>> => {
  const rows = await db.any(sql.type(PartitionRow)`
    SELECT partition, cluster_id AS "clusterId", next_offset AS "nextOffset"
    FROM positions WHERE consumer = ${group} AND topic = ${topic}
  `);
  return new Map(rows.map(({ partition, ...row }) => [partition, toPosition(row)]));
};

const nameOf = ({ topic, partition }: Place): string => `${topic}/${partition}`;

const toPosition = ({ clusterId, nextOffset }: z.output<typeof PositionRow>): Position => ({
  clusterId,
  nextOffset: BigInt(nextOffset),
});

/** Whether one position lies before another. Those of two clusters cannot be compared. */
const isBehind = (one: Position, other: Position): boolean =>
  one.clusterId !== other.clusterId || one.nextOffset < other.nextOffset;

const move = async (
  tx: Transaction,
  options: {
    group: string;
    known: ReadonlyMap<string, Position>;
    records: readonly ReceivedRecord[];
  },
): Promise<Moved> => {
  const { group, known, records } = options;
  const [first, last] = [records[0], records.at(-1)];
  if (first?.clusterId === undefined || last === undefined) {
    return { appliedCount: 0, position: undefined };
  }
  const { clusterId } = first;
  const kept = await lock(tx, group, first);
  const here = known.get(nameOf(first));
  if (here?.clusterId === clusterId && (kept === undefined || isBehind(kept, here))) {
    throw new PositionBehind("the database knows less than this consumer has committed");
  }
  const applied = kept?.clusterId === clusterId ? kept.nextOffset : 0n;
  const position = { clusterId, nextOffset: BigInt(last.offset) + 1n };
  if (position.nextOffset <= applied) return { appliedCount: records.length, position: kept };
  await write(tx, group, { place: first, position });
  const fresh = records.findIndex(({ offset }) => BigInt(offset) >= applied);
  return { appliedCount: fresh, position };
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
    SELECT cluster_id AS "clusterId", next_offset AS "nextOffset" FROM positions
    WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
    FOR UPDATE
  `);
  return row === null ? undefined : toPosition(row);
};

/** Never backwards within one cluster, where two members begin a partition at once. */
const write = async (
  tx: Transaction,
  group: string,
  { place, position }: { place: Place; position: Position },
): Promise<void> => {
  await tx.query(sql.prepared("write_position", NothingRow)`
    INSERT INTO positions AS kept (consumer, topic, partition, cluster_id, next_offset)
    VALUES (${group}, ${place.topic}, ${place.partition}, ${position.clusterId},
            ${String(position.nextOffset)}::int8)
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET
      next_offset = CASE WHEN kept.cluster_id = excluded.cluster_id
        THEN greatest(kept.next_offset, excluded.next_offset) ELSE excluded.next_offset END,
      cluster_id = excluded.cluster_id
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
          INSERT INTO positions (consumer, topic, partition, cluster_id, next_offset)
          VALUES (${group}, ${topic}, ${partition}, ${to.clusterId}, ${nextOffset}::int8)
          ON CONFLICT DO NOTHING
        `)
      : await db.query(sql.type(NothingRow)`
          UPDATE positions SET cluster_id = ${to.clusterId}, next_offset = ${nextOffset}::int8
          WHERE consumer = ${group} AND topic = ${topic} AND partition = ${partition}
            AND cluster_id = ${from.clusterId}
            AND next_offset = ${String(from.nextOffset)}::int8
        `);
  return rowCount > 0;
};
