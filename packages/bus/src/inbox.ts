import * as z from "zod";
import { sql } from "slonik";
import { type Db, nothing } from "@payment-links/postgres";
import type { EventReading } from "./cloud-event.ts";

const AcceptedRow = z.object({ name: z.string(), isFresh: z.boolean() });

/** What a chunk's ids and keys mean to a consumer. */
export type Accepted = {
  /** The ids heard for the first time. The others were applied or parked before. */
  freshIds: Set<string>;
  /** The keys with parked records: what follows must be parked behind them. */
  parkedKeys: Set<string>;
};

/**
 * Records a chunk's event ids for a consumer and finds which keys of its topic are parked, in one
 * statement. It waits for a replay under way on such a key, by the lock on the key's last parked
 * row. So a record is either parked behind the others or applied after all of them.
 */
export const acceptEvents = async (
  tx: Db,
  { group, topic, events }: { group: string; topic: string; events: readonly EventReading[] },
): Promise<Accepted> => {
  const ids = events.map(({ envelope }) => [envelope.id, dayOf(envelope.occurredAt)]);
  const keys = new Set(events.flatMap(({ record }) => storableKey(record.key) ?? []));
  const rows = await tx.any(sql.prepared("accept_events", AcceptedRow)`
    WITH parked AS (
      SELECT held.key
      FROM unnest(${sql.array([...keys], "text")}) AS asked (key)
      CROSS JOIN LATERAL (
        SELECT key FROM dead_letters
        WHERE consumer = ${group} AND topic = ${topic} AND key = asked.key
        ORDER BY seq DESC LIMIT 1
        FOR KEY SHARE
      ) AS held
    ), fresh AS (
      INSERT INTO inbox (consumer, event_id, occurred_on)
      SELECT ${group}, event.id, event.day
      FROM ${sql.unnest(ids, ["text", "date"])} AS event (id, day)
      ON CONFLICT DO NOTHING
      RETURNING event_id
    )
    SELECT event_id AS name, true AS "isFresh" FROM fresh
    UNION ALL
    SELECT key, false FROM parked
  `);
  const namesOf = (isFresh: boolean) =>
    new Set(rows.filter((row) => row.isFresh === isFresh).map((row) => row.name));
  return { freshIds: namesOf(true), parkedKeys: namesOf(false) };
};

/**
 * A key as a text column can hold it: without NUL. Two strange keys may become the same; ours
 * cannot.
 */
export const storableKey = (key: string | undefined): string | undefined =>
  key?.replaceAll("\0", "\uFFFD");

const keptDays = 30;
const deletedRowsMax = 5_000;

/**
 * Makes the coming days' partitions and drops those older than 30 days. Rows of that age in the
 * default partition are deleted, a bounded number at a time.
 */
export const keepInbox = async (db: Db, now: Date): Promise<void> => {
  const today = dayOf(now);
  await db.query(sql.type(z.object({ done: z.unknown() }))`
    SELECT keep_inbox(${today}::date) AS done
  `);
  await db.query(nothing`
    DELETE FROM inbox_other WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM inbox_other
      WHERE occurred_on < ${today}::date - ${keptDays}::int
      LIMIT ${deletedRowsMax}
    ))
  `);
};

/** The day in UTC, as SQL writes a date. */
const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10);
