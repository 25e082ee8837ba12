import { createHash } from "node:crypto";
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
 * row. So a record is either parked behind the others or applied after all of them. A repeat may
 * have waited for another member that was parking it, as after a rebalance; then the keys are looked
 * up again, as the statement began before that commit.
 */
export const acceptEvents = async (
  tx: Db,
  { group, topic, events }: { group: string; topic: string; events: readonly EventReading[] },
): Promise<Accepted> => {
  const ids = events.map(({ envelope }) => [envelope.id, dayOf(envelope.occurredAt)]);
  const keys = new Set(events.flatMap(({ record }) => storableKey(record.key) ?? []));
  const parked = holdParkedKeys({ group, topic, keys });
  const rows = await tx.any(sql.prepared("accept_events", AcceptedRow)`
    WITH parked AS (${parked}), fresh AS (
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
  const freshIds = namesOf(true);
  const hasRepeat = events.some(({ envelope }) => !freshIds.has(envelope.id));
  if (!hasRepeat) return { freshIds, parkedKeys: namesOf(false) };
  const later = await tx.any(sql.type(KeyRow)`${parked}`);
  return { freshIds, parkedKeys: new Set(later.map(({ key }) => key)) };
};

const KeyRow = z.object({ key: z.string() });

/** Which of some keys are parked, each with its last parked row locked against a replay. */
const holdParkedKeys = (asked: { group: string; topic: string; keys: ReadonlySet<string> }) =>
  sql.fragment`
    SELECT held.key
    FROM unnest(${sql.array([...asked.keys], "text")}) AS asked (key)
    CROSS JOIN LATERAL (
      SELECT key FROM dead_letters
      WHERE consumer = ${asked.group} AND topic = ${asked.topic} AND key = asked.key
      ORDER BY seq DESC LIMIT 1
      FOR KEY SHARE
    ) AS held
  `;

const keyCharactersMax = 500;
const keyCharactersShown = 100;

/**
 * A key as an indexed column can hold it: without NUL, and a long one as its beginning and its
 * SHA-256. Two strange keys may become the same; ours cannot.
 */
export const storableKey = (key: string | undefined): string | undefined => {
  const text = key?.replaceAll("\0", "\uFFFD");
  if (text === undefined || text.length <= keyCharactersMax) return text;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, keyCharactersShown).toWellFormed()}… sha256:${hash}`;
};

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
