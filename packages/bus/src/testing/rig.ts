import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import type { EventType } from "@payment-links/contracts";
import { type Db, type Pool, nothing, openPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { type Log, openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import type { BatchHandler, Bus, OutgoingRecord, PositionStore, ReceivedRecord } from "../bus.ts";
import { busMigrations } from "../index.ts";

/** A log that says nothing; `LOG_LEVEL` lets a person listen. */
export const quietLog: Log = openLog({
  service: "test",
  level: process.env["LOG_LEVEL"] ?? "silent",
});

/** A name that no other test has. */
export const fresh = (stem: string): string => `${stem}-${randomBytes(6).toString("hex")}`;

/** Waits until what is looked at is as it shall be, and answers it; fails with what it last saw. */
export const eventually = async <Value>(
  look: () => Value | Promise<Value>,
  isReached: (value: Value) => boolean,
  limitMs?: number,
): Promise<Value> => {
  let seen: Value;
  const reached = async () => {
    seen = await look();
    return isReached(seen) && { value: seen };
  };
  return (await waitUntil(() => `last seen: ${JSON.stringify(seen)}`, reached, limitMs)).value;
};

const Data = z.object({ step: z.int() });

/** An event type on the test's own topic. The cast gives it the type of a real one. */
export const testEvent = (topic: string, type = "thing.changed") =>
  ({ topic: topic as EventType["topic"], type, data: Data }) satisfies EventType;

/** A record as a relay would send it. */
export const testRecord = (
  topic: string,
  { key, step, ...more }: { key: string; step: number; id?: string; type?: string },
): OutgoingRecord => ({
  topic,
  key,
  headers: {
    ce_specversion: "1.0",
    ce_id: more.id ?? fresh("evt"),
    ce_type: more.type ?? "thing.changed",
    ce_source: "test",
    ce_time: new Date().toISOString(),
    "content-type": "application/json",
  },
  value: JSON.stringify({ step }),
});

/** The key and step of a record, such as `a:1`. */
export const labelOf = ({ key, value }: Pick<ReceivedRecord, "key" | "value">): string =>
  `${key}:${Data.parse(JSON.parse(value?.toString() ?? "null")).step}`;

/** Sends as the relay does: again and again, all of it, until the bus has kept it. */
export const send = async (bus: Bus, records: readonly OutgoingRecord[]): Promise<void> => {
  await eventually(
    () =>
      bus.publish(records).then(
        () => true,
        () => false,
      ),
    (isKept) => isKept,
  );
};

export type TestSchema = {
  url: string;
  pool: Pool;
  /** A superuser's connection to the same database. */
  admin: Client;
  close: () => Promise<void>;
};

const schema = "bus_test";

/** A database with the bus' tables and a table `effects` that handlers may write to. */
export const openTestSchema = async (): Promise<TestSchema> => {
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
  const url = database.urlOf(schema);
  const pool = await openPool({
    url,
    applicationName: "bus test",
    connectionsMax: 10,
    log: quietLog,
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

/** What a handler of these tests does: it writes a row, once for each step of a key. */
export const writeEffect = async (tx: Db, effect: { key: string; step: number }): Promise<void> => {
  await tx.query(nothing`
    INSERT INTO effects (key, step) VALUES (${effect.key}, ${effect.step}) ON CONFLICT DO NOTHING
  `);
};

/** The effects written so far, in order, such as `a:1`; of one key where it is given. */
export const readEffects = async (db: Db, key?: string): Promise<string[]> => {
  const rows = await db.any(sql.type(EffectRow)`
    SELECT key || ':' || step AS label FROM effects
    WHERE ${key ?? null}::text IS NULL OR key = ${key ?? null}
    ORDER BY seq
  `);
  return rows.map((row) => row.label);
};

/** A bus that the test controls: it keeps what is sent, and the test hands records over. */
export type HandBus = Bus & {
  sent: OutgoingRecord[][];
  /** What `publish` does besides keeping. If it throws, nothing was kept. */
  onPublish: (records: readonly OutgoingRecord[]) => Promise<void>;
  handOver: (
    records: readonly ReceivedRecord[],
    signal?: AbortSignal,
  ) => Promise<{ handledCount: number }>;
  /** Tells the consumer where it begins, as a broker does at each join. */
  begin: PositionStore["begin"];
};

/** Opens a bus that the test controls. */
export const createHandBus = (sendTimeoutMs = 0): HandBus => {
  let handle: BatchHandler | undefined;
  let positions: PositionStore | undefined;
  const bus: HandBus = {
    sent: [],
    sendTimeoutMs,
    pollMs: 20,
    onPublish: async () => {},
    publish: async (records) => {
      await bus.onPublish(records);
      bus.sent.push([...records]);
    },
    subscribe: async (subscription) => {
      ({ handle, positions } = subscription);
      return { stop: async () => {} };
    },
    handOver: (records, signal = new AbortController().signal) => {
      if (handle === undefined) throw new Error("nobody has subscribed");
      return handle(records, signal);
    },
    begin: (place, position) => positions?.begin(place, position),
    close: async () => {},
  };
  return bus;
};

let lastOffset = 0;

/** A record as it arrives, at a place of its own. */
export const received = (
  record: OutgoingRecord,
  changes: Partial<ReceivedRecord> = {},
): ReceivedRecord => {
  lastOffset += 1;
  return {
    ...record,
    partition: 0,
    offset: String(lastOffset),
    value: Buffer.from(record.value),
    ...changes,
  };
};
