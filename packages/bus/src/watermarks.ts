import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import type { OutgoingRecord, ReceivedRecord } from "./bus.ts";

/**
 * The type of a watermark record. Everything that its sender committed before the watermark's time
 * precedes it in the log.
 */
const watermarkType = "outbox.mark";

/** The header with the number of partitions that received the watermark. Default: 1. */
export const partitionCountHeader = "partitions";

/** Creates a watermark for every partition of a topic. Compaction retains the last one of each. */
export const createWatermarkRecord = (
  topic: string,
  source: string,
  watermarkAt: Date,
): OutgoingRecord => ({
  topic,
  key: watermarkType,
  headers: {
    ce_specversion: "1.0",
    ce_id: newId("evt"),
    ce_source: source,
    ce_type: watermarkType,
    ce_time: watermarkAt.toISOString(),
    "content-type": "application/json",
  },
  value: "{}",
  sendToEveryPartition: true,
});

export type Watermark = { record: ReceivedRecord; watermarkAt: Date; partitionCount: number };

const WatermarkHeaders = z.object({
  ce_time: z.iso.datetime().transform((text) => new Date(text)),
  [partitionCountHeader]: z.coerce.number().int().min(1).max(10_000).default(1),
});

/** Parses a watermark; undefined if the record is not a valid one. */
export const parseWatermark = (record: ReceivedRecord): Watermark | undefined => {
  if (record.headers["ce_type"] !== watermarkType) return undefined;
  const headers = WatermarkHeaders.safeParse(record.headers);
  if (!headers.success || headers.data[partitionCountHeader] <= record.partition) return undefined;
  const { ce_time: watermarkAt, [partitionCountHeader]: partitionCount } = headers.data;
  return { record, watermarkAt, partitionCount };
};

/** Stores a watermark in the transaction that applies the events before it. */
export const saveWatermark = async (
  tx: Transaction,
  group: string,
  watermark: Watermark,
): Promise<void> => {
  const { topic, partition } = watermark.record;
  await tx.query(sqlVoid`
    INSERT INTO heard_until AS kept (consumer, topic, partition, partition_count, heard_until)
    SELECT ${group}, ${topic}, ${partition}, ${watermark.partitionCount}, ${sql.timestamp(watermark.watermarkAt)}
    WHERE NOT EXISTS (SELECT FROM dead_letters WHERE consumer = ${group} AND topic = ${topic})
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET
      partition_count = excluded.partition_count,
      heard_until = greatest(kept.heard_until, excluded.heard_until)
  `);
};

const ReceivedUntilRow = z.object({ receivedUntil: z.date().nullable() });

/**
 * Returns the time before which a consumer has received everything that a topic's sender committed;
 * undefined if unknown. The time stops advancing while the sender's relay, the broker or the
 * consumer is unavailable. It is unknown while the topic has dead letters.
 */
export const findReceivedUntil = async (
  db: Db,
  { group, topic }: { group: string; topic: string },
): Promise<Date | undefined> => {
  const row = await db.one(sql.type(ReceivedUntilRow)`
    SELECT CASE
      WHEN count(*) = max(partition_count) AND NOT EXISTS (
        SELECT FROM dead_letters WHERE consumer = ${group} AND topic = ${topic}
      )
      THEN min(heard_until)
    END AS "receivedUntil"
    FROM heard_until WHERE consumer = ${group} AND topic = ${topic}
  `);
  return row.receivedUntil ?? undefined;
};
