import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { type Db, sqlVoid } from "@payment-links/postgres";
import type { ReceivedRecord } from "./bus.ts";
import type { ParsedRecord } from "./cloud-event.ts";
import { toStorableKey } from "./blocked-keys.ts";

/** The topic that tells the world of a topic's dead letters. */
export const getDeadLetterTopic = (topic: string): string => `${topic}.dead-letter`;

/** Why a record without a fault of its own is parked. */
export const blockedReason = "parked behind an earlier record of the same key";

export type NewDeadLetter = {
  group: string;
  parsedRecord: ParsedRecord;
  reason: string;
  deadLetteredAt: Date;
};

const reasonLengthMax = 1_000;

/**
 * Sets a record aside in the caller's transaction. It writes a row for the replay, and by the
 * outbox a record on the dead-letter topic, with the reason and the place. Answers false if the
 * record was set aside before.
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
 * What could not be read is known by its place in its log: in a log that was made anew the place is another
 * record's.
 */
const createUnparsedId = ({ log, offset, partition }: ReceivedRecord): string | null =>
  log === undefined
    ? null
    : `${unparsedPrefix}${log.clusterId} ${log.resetCount} ${partition} ${offset}`;

/** Null where it could not be read. */
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
 * The headers that a replay needs come first; of strange ones there may be any number, of any
 * length, and the dead letter must not be too large to be sent.
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

/** A record on the dead-letter topic must not be too large to be sent. */
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
  /** Set if the record could be read. */
  eventId: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  value: z.instanceof(Buffer).nullable(),
});
export type StoredDeadLetter = z.output<typeof StoredDeadLetter>;

/** A parked record, as it arrived. */
export const toReceivedRecord = (row: StoredDeadLetter): ReceivedRecord => ({
  topic: row.topic,
  partition: row.partition,
  offset: row.offset,
  key: row.key ?? undefined,
  headers: row.headers,
  value: row.value ?? undefined,
});

/** Records that are parked together: one key of one topic, or one record without a key. */
export type DeadLetterLane = { topic: string; key: string | null; firstSeq: string };

const LaneRow = z.object({ topic: z.string(), key: z.string().nullable(), firstSeq: z.string() });

/** The lanes that a group has parked, by their oldest record, from behind `afterSeq` on. */
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

/** Takes the oldest parked record of a lane for this transaction; undefined if none is left. */
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

/** Writes down why a parked record failed again. */
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
 * Gives up a parked record for good and keeps it with the reason; what is parked behind it may then
 * be replayed. False if there is no such record.
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

/** How many records a group has parked. */
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
      ${selectEventId} AS "eventId", event_type AS "eventType", reason, parked_at AS "parkedAt"
    FROM dead_letters
    WHERE seq > ${options.afterSeq ?? "0"}::int8
      AND (${options.group ?? null}::text IS NULL OR consumer = ${options.group ?? null})
    ORDER BY seq LIMIT ${Math.min(options.limit ?? 100, limitMax)}
  `);
