import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { type Db, sqlVoid } from "@payment-links/postgres";
import type { ReceivedRecord } from "./bus.ts";
import type { ParsedRecord } from "./cloud-event.ts";
import { toStorableKey } from "./blocked-keys.ts";

/** Returns the name of a topic's dead-letter topic. */
export const getDeadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

/**
 * The reason for dead-lettering a record only because an earlier record with its key was
 * dead-lettered.
 */
export const blockedReason = "parked behind an earlier record of the same key";

export type NewDeadLetter = {
  group: string;
  parsedRecord: ParsedRecord;
  reason: string;
  deadLetteredAt: Date;
};

const reasonLengthMax = 1_000;

/**
 * Dead-letters a record in the caller's transaction. Stores a row for the replay. Also publishes a
 * record with the reason and the record's location on the dead-letter topic, through the outbox.
 * Returns false if the record was already dead-lettered.
 */
export const storeDeadLetter = async (tx: Db, deadLetter: NewDeadLetter): Promise<boolean> => {
  const { group, parsedRecord, deadLetteredAt } = deadLetter;
  const { record } = parsedRecord;
  const reason = toStorableText(deadLetter.reason).slice(0, reasonLengthMax);
  const eventId = parsedRecord.kind === "event" ? parsedRecord.envelope.id : null;
  const recordId = eventId ?? createUnparsedId(record);
  const headers = toStorableHeaders(record.headers);
  const eventType = headers["ce_type"] || null;
  const key = toStorableKey(record.key);
  const payload = { group, reason, ...getRecordLocation(record), eventId, eventType, headers };
  const { rowCount } = await tx.query(sqlVoid`
    WITH parked AS (
      INSERT INTO dead_letters (
        consumer, topic, partition, record_offset, key, event_id, event_type, headers, value,
        reason, parked_at
      )
      SELECT
        ${group}, ${record.topic}, ${record.partition}, ${record.offset}::int8, ${key ?? null},
        ${recordId}, ${eventType}, ${sql.jsonb(headers)},
        ${record.value === undefined ? null : sql.binary(record.value)}, ${reason},
        ${sql.timestamp(deadLetteredAt)}
      WHERE NOT EXISTS (
        SELECT FROM dead_letters
        WHERE consumer = ${group} AND event_id = ${recordId}::text AND topic = ${record.topic}
      )
      ON CONFLICT DO NOTHING
      RETURNING seq
    )
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    SELECT ${newId("evt")}, ${getDeadLetterTopic(record.topic)}, ${key ?? ""}, 'dead_letter.parked',
      ${sql.timestamp(deadLetteredAt)}, ${headers["traceparent"] ?? null},
      ${JSON.stringify({ ...payload, key: key ?? null, value: toTextValue(record.value) })}
    FROM parked
  `);
  return rowCount > 0;
};

const unparsedPrefix = "unread:";

/**
 * Identifies an unreadable record by its location. The id includes the log, because the same offset
 * in a recreated log belongs to another record.
 */
const createUnparsedId = ({ log, offset, partition }: ReceivedRecord): string | null =>
  log === undefined
    ? null
    : `${unparsedPrefix}${log.clusterId} ${log.resetCount} ${partition} ${offset}`;

/** Selects the event id; null if the record was unreadable. */
const selectEventId = sql.fragment`CASE WHEN event_id NOT LIKE ${`${unparsedPrefix}%`} THEN event_id END`;

const getRecordLocation = ({ topic, partition, offset }: ReceivedRecord) => ({
  topic,
  partition,
  offset,
});

const toStorableText = (text: string): string => text.replaceAll("\0", "\uFFFD");

const headersMax = 32;
const headerLengthMax = 1_000;

/**
 * Limits the headers so that the dead letter stays small enough to send, because an unknown
 * producer can set any number of headers of any length. The headers that a replay needs come first.
 */
const toStorableHeaders = (headers: ReceivedRecord["headers"]): Record<string, string> => {
  const isExtraHeader = (name: string) => !name.startsWith("ce_") && name !== "traceparent";
  const names = Object.keys(headers)
    .toSorted((a, b) => Number(isExtraHeader(a)) - Number(isExtraHeader(b)))
    .slice(0, headersMax);
  const truncate = (text: string): string =>
    toStorableText(text).slice(0, headerLengthMax).toWellFormed();
  return Object.fromEntries(names.map((name) => [truncate(name), truncate(headers[name] ?? "")]));
};

/** Limits a value so that the record on the dead-letter topic stays small enough to send. */
const valueBytesMax = 64 * 1024;

const toTextValue = (value: Buffer | undefined): string | null =>
  value !== undefined && value.length <= valueBytesMax && isUtf8(value)
    ? value.toString("utf8")
    : null;

const StoredDeadLetter = z.object({
  seq: z.string(),
  topic: z.string(),
  partition: z.number(),
  offset: z.string(),
  key: z.string().nullable(),
  /** Null if the record was unreadable. */
  eventId: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  value: z.instanceof(Buffer).nullable(),
});
export type StoredDeadLetter = z.output<typeof StoredDeadLetter>;

/** Converts a dead letter back to the received record. */
export const toReceivedRecord = (row: StoredDeadLetter): ReceivedRecord => ({
  topic: row.topic,
  partition: row.partition,
  offset: row.offset,
  key: row.key ?? undefined,
  headers: row.headers,
  value: row.value ?? undefined,
});

/**
 * Dead letters that must be replayed in order: all with the same topic and key, or a single one
 * without a key.
 */
export type DeadLetterLane = { topic: string; key: string | null; firstSeq: string };

const LaneRow = z.object({ topic: z.string(), key: z.string().nullable(), firstSeq: z.string() });

/** Returns a group's lanes with a first record after `afterSeq`, ordered by that record. */
export const findDeadLetterLanes = (
  db: Db,
  filter: { group: string; key: string | undefined; afterSeq: string; lanesMax: number },
): Promise<readonly DeadLetterLane[]> => {
  const { group, afterSeq, lanesMax } = filter;
  const key = filter.key ?? null;
  return db.any(sql.type(LaneRow)`
    SELECT topic, key, min(seq) AS "firstSeq" FROM dead_letters
    WHERE consumer = ${group} AND (${key}::text IS NULL OR key = ${key})
    GROUP BY topic, key, CASE WHEN key IS NULL THEN seq END
    HAVING min(seq) > ${afterSeq}::int8
    ORDER BY min(seq) LIMIT ${lanesMax}
  `);
};

/** Deletes and returns the oldest dead letter of a lane; undefined if the lane is empty. */
export const deleteFirstDeadLetter = async (
  tx: Db,
  { group, lane }: { group: string; lane: DeadLetterLane },
): Promise<StoredDeadLetter | undefined> =>
  (await tx.maybeOne(sql.type(StoredDeadLetter)`
    DELETE FROM dead_letters WHERE seq = (
      SELECT seq FROM dead_letters
      WHERE consumer = ${group} AND topic = ${lane.topic} AND ${matchLane(lane)}
      ORDER BY seq LIMIT 1
      FOR UPDATE
    )
    RETURNING seq, topic, partition, record_offset AS "offset", key,
      ${selectEventId} AS "eventId", headers, value
  `)) ?? undefined;

const matchLane = ({ key, firstSeq }: DeadLetterLane) =>
  key === null ? sql.fragment`seq = ${firstSeq}::int8` : sql.fragment`key = ${key}`;

/** Stores the reason why a replayed dead letter failed again. */
export const updateDeadLetterReason = async (
  db: Db,
  { seq, reason }: { seq: string; reason: string },
): Promise<void> => {
  await db.query(sqlVoid`
    UPDATE dead_letters SET reason = ${toStorableText(reason).slice(0, reasonLengthMax)}
    WHERE seq = ${seq}::int8
  `);
};

/**
 * Permanently discards a dead letter and stores it with the reason. The records behind it can then
 * be replayed. Returns false if there is no such dead letter.
 */
export const discardDeadLetter = async (
  db: Db,
  options: { group: string; seq: string; reason: string; now: Date },
): Promise<boolean> => {
  const { rowCount } = await db.query(sqlVoid`
    WITH discarded AS (
      DELETE FROM dead_letters WHERE consumer = ${options.group} AND seq = ${options.seq}::int8
      RETURNING *
    )
    INSERT INTO discarded_letters
    SELECT discarded.*, ${sql.timestamp(options.now)}, ${options.reason} FROM discarded
  `);
  return rowCount > 0;
};

const CountRow = z.object({ parkedCount: z.number() });

/** Returns the number of a group's dead letters. */
export const countDeadLetters = async (db: Db, group: string): Promise<number> => {
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

const limitMax = 1_000;

/** Lists the dead letters in a service's schema in the order they were stored, for operators. */
export const listDeadLetters = (options: {
  pool: Db;
  group?: string;
  /** Lists only the dead letters after this one. */
  afterSeq?: string | undefined;
  limit?: number;
}): Promise<readonly DeadLetter[]> =>
  options.pool.any(sql.type(DeadLetterRow)`
    SELECT seq, consumer AS "group", topic, partition, record_offset AS "offset", key,
      ${selectEventId} AS "eventId", event_type AS "eventType", reason, parked_at AS "parkedAt"
    FROM dead_letters
    WHERE seq > ${options.afterSeq ?? "0"}::int8
      AND (${options.group ?? null}::text IS NULL OR consumer = ${options.group ?? null})
    ORDER BY seq LIMIT ${Math.min(options.limit ?? 100, limitMax)}
  `);
