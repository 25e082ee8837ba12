import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { type Db, nothing } from "@payment-links/postgres";
import type { ReceivedRecord } from "./bus.ts";
import type { Reading } from "./cloud-event.ts";
import { storableKey } from "./parked-keys.ts";

/** The topic that tells the world of a topic's dead letters. */
export const deadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

/** Why a record without a fault of its own is parked. */
export const parkedBehind = "parked behind an earlier record of the same key";

export type Parking = { group: string; reading: Reading; reason: string; parkedAt: Date };

const reasonCharactersMax = 1_000;

/**
 * Sets a record aside in the caller's transaction. It writes a row for the replay, and by the
 * outbox a record on the dead-letter topic, with the reason and the place. Answers false if the
 * record was set aside before.
 */
export const parkRecord = async (tx: Db, parking: Parking): Promise<boolean> => {
  const { group, reading, parkedAt } = parking;
  const { record } = reading;
  const reason = storableText(parking.reason).slice(0, reasonCharactersMax);
  const eventId = reading.kind === "event" ? reading.envelope.id : null;
  const name = eventId ?? nameUnread(record);
  const headers = storableHeaders(record.headers);
  const eventType = headers["ce_type"] || null;
  const key = storableKey(record.key);
  const told = { group, reason, ...placeOf(record), eventId, eventType, headers };
  const { rowCount } = await tx.query(nothing`
    WITH parked AS (
      INSERT INTO dead_letters (
        consumer, topic, partition, record_offset, key, event_id, event_type, headers, value,
        reason, parked_at
      )
      SELECT
        ${group}, ${record.topic}, ${record.partition}, ${record.offset}::int8, ${key ?? null},
        ${name}, ${eventType}, ${sql.jsonb(headers)},
        ${record.value === undefined ? null : sql.binary(record.value)}, ${reason},
        ${sql.timestamp(parkedAt)}
      WHERE NOT EXISTS (
        SELECT FROM dead_letters
        WHERE consumer = ${group} AND event_id = ${name}::text AND topic = ${record.topic}
      )
      ON CONFLICT DO NOTHING
      RETURNING seq
    )
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    SELECT ${newId("evt")}, ${deadLetterTopic(record.topic)}, ${key ?? ""}, 'dead_letter.parked',
      ${sql.timestamp(parkedAt)}, ${headers["traceparent"] ?? null},
      ${JSON.stringify({ ...told, key: key ?? null, value: shownValue(record.value) })}
    FROM parked
  `);
  return rowCount > 0;
};

const unread = "unread:";

/**
 * What could not be read is known by its place in its log: in a log that was made anew the place is another
 * record's.
 */
const nameUnread = ({ log, offset, partition }: ReceivedRecord): string | null =>
  log === undefined ? null : `${unread}${log.clusterId} ${log.resetCount} ${partition} ${offset}`;

/** Null where it could not be read. */
const eventIdOf = sql.fragment`CASE WHEN event_id NOT LIKE ${`${unread}%`} THEN event_id END`;

const placeOf = ({ topic, partition, offset }: ReceivedRecord) => ({ topic, partition, offset });

const storableText = (text: string): string => text.replaceAll("\0", "\uFFFD");

const headersMax = 32;
const headerCharactersMax = 1_000;

/**
 * The headers that a replay needs come first; of strange ones there may be any number, of any
 * length, and the dead letter must not be too large to be sent.
 */
const storableHeaders = (headers: ReceivedRecord["headers"]): Record<string, string> => {
  const isStrange = (name: string) => !name.startsWith("ce_") && name !== "traceparent";
  const names = Object.keys(headers)
    .toSorted((a, b) => Number(isStrange(a)) - Number(isStrange(b)))
    .slice(0, headersMax);
  const bound = (text: string): string =>
    storableText(text).slice(0, headerCharactersMax).toWellFormed();
  return Object.fromEntries(names.map((name) => [bound(name), bound(headers[name] ?? "")]));
};

/** A record on the dead-letter topic must not be too large to be sent. */
const shownBytesMax = 64 * 1024;

const shownValue = (value: Buffer | undefined): string | null =>
  value !== undefined && value.length <= shownBytesMax && isUtf8(value)
    ? value.toString("utf8")
    : null;

const ParkedRow = z.object({
  seq: z.string(),
  topic: z.string(),
  partition: z.number(),
  offset: z.string(),
  key: z.string().nullable(),
  /** Set if the record could be read. */
  eventId: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  value: z.instanceof(Buffer).nullable(),
});
export type ParkedRow = z.output<typeof ParkedRow>;

/** A parked record, as it arrived. */
export const toReceived = (row: ParkedRow): ReceivedRecord => ({
  topic: row.topic,
  partition: row.partition,
  offset: row.offset,
  key: row.key ?? undefined,
  headers: row.headers,
  value: row.value ?? undefined,
});

/** Records that are parked together: one key of one topic, or one record without a key. */
export type ParkedLane = { topic: string; key: string | null; firstSeq: string };

const LaneRow = z.object({ topic: z.string(), key: z.string().nullable(), firstSeq: z.string() });

/** The lanes that a group has parked, by their oldest record, from behind `afterSeq` on. */
export const findLanes = (
  db: Db,
  wanted: { group: string; key: string | undefined; afterSeq: string; lanesMax: number },
): Promise<readonly ParkedLane[]> => {
  const { group, afterSeq, lanesMax } = wanted;
  const key = wanted.key ?? null;
  return db.any(sql.type(LaneRow)`
    SELECT topic, key, min(seq) AS "firstSeq" FROM dead_letters
    WHERE consumer = ${group} AND (${key}::text IS NULL OR key = ${key})
    GROUP BY topic, key, CASE WHEN key IS NULL THEN seq END
    HAVING min(seq) > ${afterSeq}::int8
    ORDER BY min(seq) LIMIT ${lanesMax}
  `);
};

/** Takes the oldest parked record of a lane for this transaction; undefined if none is left. */
export const takeFirst = async (
  tx: Db,
  { group, lane }: { group: string; lane: ParkedLane },
): Promise<ParkedRow | undefined> =>
  (await tx.maybeOne(sql.type(ParkedRow)`
    DELETE FROM dead_letters WHERE seq = (
      SELECT seq FROM dead_letters
      WHERE consumer = ${group} AND topic = ${lane.topic} AND ${isOfLane(lane)}
      ORDER BY seq LIMIT 1
      FOR UPDATE
    )
    RETURNING seq, topic, partition, record_offset AS "offset", key,
      ${eventIdOf} AS "eventId", headers, value
  `)) ?? undefined;

const isOfLane = ({ key, firstSeq }: ParkedLane) =>
  key === null ? sql.fragment`seq = ${firstSeq}::int8` : sql.fragment`key = ${key}`;

/** Writes down why a parked record failed again. */
export const updateReason = async (
  db: Db,
  { seq, reason }: { seq: string; reason: string },
): Promise<void> => {
  await db.query(nothing`
    UPDATE dead_letters SET reason = ${storableText(reason).slice(0, reasonCharactersMax)}
    WHERE seq = ${seq}::int8
  `);
};

/**
 * Gives up a parked record for good and keeps it with the reason; what is parked behind it may then
 * be replayed. False if there is no such record.
 */
export const discardDeadLetter = async (
  db: Db,
  letter: { group: string; seq: string; because: string; now: Date },
): Promise<boolean> => {
  const { rowCount } = await db.query(nothing`
    WITH discarded AS (
      DELETE FROM dead_letters WHERE consumer = ${letter.group} AND seq = ${letter.seq}::int8
      RETURNING *
    )
    INSERT INTO discarded_letters
    SELECT discarded.*, ${sql.timestamp(letter.now)}, ${letter.because} FROM discarded
  `);
  return rowCount > 0;
};

const CountRow = z.object({ parkedCount: z.number() });

/** How many records a group has parked. */
export const countParked = async (db: Db, group: string): Promise<number> => {
  const row = await db.one(sql.type(CountRow)`
    SELECT count(*)::int AS "parkedCount" FROM dead_letters WHERE consumer = ${group}
  `);
  return row.parkedCount;
};

const DeadLetterRow = z.object({
  seq: z.string(),
  group: z.string(),
  topic: z.string(),
  partition: z.number(),
  offset: z.string(),
  key: z.string().nullable(),
  eventId: z.string().nullable(),
  eventType: z.string().nullable(),
  reason: z.string(),
  parkedAt: z.date(),
});
export type DeadLetter = z.output<typeof DeadLetterRow>;

const listedMax = 1_000;

/** Lists the parked records of a service's schema in order of parking, for its operators. */
export const listDeadLetters = (options: {
  pool: Db;
  group?: string;
  /** Lists what was parked after this one. */
  afterSeq?: string | undefined;
  limit?: number;
}): Promise<readonly DeadLetter[]> =>
  options.pool.any(sql.type(DeadLetterRow)`
    SELECT seq, consumer AS "group", topic, partition, record_offset AS "offset", key,
      ${eventIdOf} AS "eventId", event_type AS "eventType", reason, parked_at AS "parkedAt"
    FROM dead_letters
    WHERE seq > ${options.afterSeq ?? "0"}::int8
      AND (${options.group ?? null}::text IS NULL OR consumer = ${options.group ?? null})
    ORDER BY seq LIMIT ${Math.min(options.limit ?? 100, listedMax)}
  `);
