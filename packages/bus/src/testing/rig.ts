import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import type { EventType } from "@payment-links/contracts";
import { type Db, type Pool, sqlVoid, connectPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { type Log, createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import type { BatchHandler, Bus, OutgoingRecord, PositionStore, ReceivedRecord } from "../bus.ts";
import { busMigrations } from "../index.ts";

/** A silent log; set `LOG_LEVEL` to see its output. */
export const silentLog: Log = createLog({
  service: "test",
  level: process.env["LOG_LEVEL"] ?? "silent",
});

/** Returns a name that no other test uses. */
export const createUniqueName = (prefix: string): string =>
  `${prefix}-${randomBytes(6).toString("hex")}`;

/**
 * Polls until the value is as expected and returns it; on timeout, fails with the last value. A
 * value instead of a condition is compared with `===`.
 */
export const eventually = async <Value>(
  read: () => Value | Promise<Value>,
  expected: ((value: Value) => boolean) | (Value & (string | number | boolean)),
  timeoutMs?: number,
): Promise<Value> => {
  const isExpected = typeof expected === "function" ? expected : isSame(expected);
  let lastValue: Value;
  const check = async () => {
    lastValue = await read();
    return isExpected(lastValue) && { value: lastValue };
  };
  return (await waitUntil(() => `last seen: ${JSON.stringify(lastValue)}`, check, timeoutMs)).value;
};

const isSame = (expected: unknown) => (value: unknown) => value === expected;

const TestEventData = z.object({ step: z.int() });

/** Creates an event type on the test's own topic. The cast makes it look like a real event type. */
export const createTestEventType = (topic: string, type = "thing.changed") =>
  ({ topic: topic as EventType["topic"], type, data: TestEventData }) satisfies EventType;

/** Creates a record as a relay would send it. */
export const createTestRecord = (
  topic: string,
  { key, step, ...overrides }: { key: string; step: number; id?: string; type?: string },
): OutgoingRecord => ({
  topic,
  key,
  headers: {
    ce_specversion: "1.0",
    ce_id: overrides.id ?? createUniqueName("evt"),
    ce_type: overrides.type ?? "thing.changed",
    ce_source: "test",
    ce_time: new Date().toISOString(),
    "content-type": "application/json",
  },
  value: JSON.stringify({ step }),
});

/** Returns the key and step of a record, such as `a:1`. */
export const formatLabel = ({ key, value }: Pick<ReceivedRecord, "key" | "value">): string =>
  `${key}:${TestEventData.parse(JSON.parse(value?.toString() ?? "null")).step}`;

/** Sends all records repeatedly, like the relay, until the bus has stored them. */
export const publishUntilStored = async (
  bus: Bus,
  records: readonly OutgoingRecord[],
): Promise<void> => {
  await eventually(
    () =>
      bus.publish(records).then(
        () => true,
        () => false,
      ),
    (isStored) => isStored,
  );
};

export type TestSchema = {
  url: string;
  pool: Pool;
  /** A superuser connection to the same database. */
  admin: Client;
  close: () => Promise<void>;
};

const schema = "bus_test";

/** Creates a database with the bus tables and a table `effects` for handlers to write to. */
export const createTestSchema = async (): Promise<TestSchema> => {
  const database = await createTestDatabase([{ schema, folders: [busMigrations] }]);
  const admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query(`
    SET search_path = ${schema};
    CREATE TABLE effects (
      seq bigint GENERATED ALWAYS AS IDENTITY, key text NOT NULL, step int NOT NULL,
      UNIQUE (key, step)
    )
  `);
  const url = database.getRoleUrl(schema);
  const pool = await connectPool({
    url,
    applicationName: "bus test",
    connectionsMax: 10,
    statementTimeoutMs: ampleTimeoutMs,
    log: silentLog,
  });
  return {
    url,
    pool,
    admin,
    close: async () => {
      await pool.end();
      await admin.end();
      await database.drop();
    },
  };
};

const EffectRow = z.object({ label: z.string() });

/** Writes one row per key and step. This is the effect of the handlers in these tests. */
export const writeEffect = async (tx: Db, effect: { key: string; step: number }): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO effects (key, step) VALUES (${effect.key}, ${effect.step}) ON CONFLICT DO NOTHING
  `);
};

/** Returns the effects in order, such as `a:1`; only those of `key` if it is given. */
export const readEffects = async (db: Db, key?: string): Promise<string[]> => {
  const rows = await db.any(sql.type(EffectRow)`
    SELECT key || ':' || step AS label FROM effects
    WHERE ${key ?? null}::text IS NULL OR key = ${key ?? null}
    ORDER BY seq
  `);
  return rows.map((row) => row.label);
};

/** A bus for tests. It stores the published records, and the test delivers them. */
export type ManualBus = Bus & {
  sentBatches: OutgoingRecord[][];
  /** Called by `publish` before it stores the records. If it throws, nothing is stored. */
  onPublish: (records: readonly OutgoingRecord[]) => Promise<void>;
  deliver: (
    records: readonly ReceivedRecord[],
    signal?: AbortSignal,
  ) => Promise<{ handledCount: number }>;
  /** Reports the starting position to the consumer, as a broker does on each join. */
  onSeek: PositionStore["onSeek"];
};

/** Creates a bus that the test controls. */
export const createManualBus = (sendTimeoutMs = 0): ManualBus => {
  let handle: BatchHandler | undefined;
  let positionStore: PositionStore | undefined;
  const bus: ManualBus = {
    sentBatches: [],
    sendTimeoutMs,
    pollMs: 20,
    onPublish: async () => {},
    publish: async (records) => {
      await bus.onPublish(records);
      bus.sentBatches.push([...records]);
    },
    subscribe: async (subscription) => {
      ({ handle, positionStore } = subscription);
      return { stop: async () => {} };
    },
    deliver: (records, signal = new AbortController().signal) => {
      if (handle === undefined) throw new Error("there is no subscriber");
      return handle(records, signal);
    },
    onSeek: (topicPartition, position) => positionStore?.onSeek(topicPartition, position),
    close: async () => {},
  };
  return bus;
};

let lastOffset = 0;

/** Converts a sent record to a received one with a unique offset. */
export const toReceivedRecord = (
  record: OutgoingRecord,
  overrides: Partial<ReceivedRecord> = {},
): ReceivedRecord => {
  lastOffset += 1;
  return {
    ...record,
    partition: 0,
    offset: String(lastOffset),
    value: Buffer.from(record.value),
    ...overrides,
  };
};
