import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import type { OutgoingRecord, ReceivedRecord } from "./bus.ts";

/** The type of a record that says: whatever was committed before its time lies before it. */
const markType = "outbox.mark";

/** In how many partitions a mark was put; one where the bus does not say. */
export const markPartitionsHeader = "partitions";

/** A mark for every partition of a topic. Compaction keeps the last one of each. */
export const markRecord = (topic: string, source: string, markedAt: Date): OutgoingRecord => ({
  topic,
  key: markType,
  headers: {
    ce_specversion: "1.0",
    ce_id: newId("evt"),
    ce_source: source,
    ce_type: markType,
    ce_time: markedAt.toISOString(),
    "content-type": "application/json",
  },
  value: "{}",
  toEveryPartition: true,
});

export type Mark = { record: ReceivedRecord; markedAt: Date; partitionCount: number };

const MarkHeaders = z.object({
  ce_time: z.iso.datetime().transform((text) => new Date(text)),
  [markPartitionsHeader]: z.coerce.number().int().min(1).max(10_000).default(1),
});

/** Reads a mark; undefined if it is none. */
export const readMark = (record: ReceivedRecord): Mark | undefined => {
  if (record.headers["ce_type"] !== markType) return undefined;
  const headers = MarkHeaders.safeParse(record.headers);
  if (!headers.success || headers.data[markPartitionsHeader] <= record.partition) return undefined;
  const { ce_time: markedAt, [markPartitionsHeader]: partitionCount } = headers.data;
  return { record, markedAt, partitionCount };
};

/** Keeps a mark in the transaction that applies what lies before it. */
export const keepMark = async (tx: Transaction, group: string, mark: Mark): Promise<void> => {
  const { topic, partition } = mark.record;
  await tx.query(nothing`
    INSERT INTO heard_until AS kept (consumer, topic, partition, partition_count, heard_until)
    SELECT ${group}, ${topic}, ${partition}, ${mark.partitionCount}, ${sql.timestamp(mark.markedAt)}
    WHERE NOT EXISTS (SELECT FROM dead_letters WHERE consumer = ${group} AND topic = ${topic})
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET
      partition_count = excluded.partition_count,
      heard_until = greatest(kept.heard_until, excluded.heard_until)
  `);
};

const HeardRow = z.object({ heardUntil: z.date().nullable() });

/**
 * The moment before which a consumer has heard everything that a topic's sender committed; undefined
 * if that is not known. It is at rest while the sender's relay, the broker or the consumer is away, and
 * not known while anything of the topic is parked.
 */
export const findHeardUntil = async (
  db: Db,
  { group, topic }: { group: string; topic: string },
): Promise<Date | undefined> => {
  const row = await db.one(sql.type(HeardRow)`
    SELECT CASE
      WHEN count(*) = max(partition_count) AND NOT EXISTS (
        SELECT FROM dead_letters WHERE consumer = ${group} AND topic = ${topic}
      )
      THEN min(heard_until)
    END AS "heardUntil"
    FROM heard_until WHERE consumer = ${group} AND topic = ${topic}
  `);
  return row.heardUntil ?? undefined;
};
