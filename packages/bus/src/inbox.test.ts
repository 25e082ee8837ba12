import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { indexReactions, readRecord } from "./cloud-event.ts";
import { parkRecord } from "./dead-letters.ts";
import { acceptEvents, keepInbox } from "./inbox.ts";
import { on } from "./reaction.ts";
import { fresh, openTestSchema, testEvent, testRecord } from "./testing/rig.ts";

const database = useRig(openTestSchema);
const group = fresh("group");

describe("a repeat that another member is parking", () => {
  test("keeps what follows of its key parked behind it, as after a rebalance", async () => {
    const [topic, group] = [fresh("topic"), fresh("group")];
    const index = indexReactions([on(testEvent(topic), () => Promise.resolve())]);
    const events = [1, 2].map((step) => {
      const record = testRecord(topic, { key: "k", step });
      const place = { partition: 0, offset: String(step), value: Buffer.from(record.value) };
      const reading = readRecord({ ...record, ...place }, index);
      if (reading.kind !== "event") throw new Error("the record is no event");
      return reading;
    });
    const [first] = events;
    if (first === undefined) throw new Error("there is no first event");
    const parked = Promise.withResolvers<void>();
    const committing = Promise.withResolvers<void>();
    const formerMember = transact(database.pool, async (tx) => {
      await acceptEvents(tx, { group, topic, events: [first] });
      await parkRecord(tx, { group, reading: first, reason: "bad", parkedAt: new Date() });
      parked.resolve();
      await committing.promise;
    });
    await parked.promise;
    const accepting = transact(database.pool, (tx) => acceptEvents(tx, { group, topic, events }));
    await waitUntil("the new member waits for the former", async () => {
      const { rowCount } = await database.admin.query(
        `SELECT FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rowCount === 1;
    });
    committing.resolve();
    await formerMember;
    const { freshIds, parkedKeys } = await accepting;
    expect([...freshIds]).toEqual([events[1]?.envelope.id]);
    expect([...parkedKeys]).toEqual(["k"]);
  });
});

describe("the inbox", () => {
  const partitions = async (): Promise<string[]> => {
    const { rows } = await database.admin.query<{ name: string }>(`
      SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = 'inbox'::regclass ORDER BY relname
    `);
    return rows.map((row) => row.name);
  };
  const dayMs = 24 * 60 * 60 * 1000;

  test("has its partitions a week ahead, and loses those of more than 30 days ago", async () => {
    const own = await openTestSchema();
    const names = async () => {
      const { rows } = await own.admin.query<{ name: string }>(`
        SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'inbox'::regclass AND relname <> 'inbox_other' ORDER BY relname
      `);
      return rows.map((row) => row.name.slice("inbox_".length));
    };
    const dayOf = (offset: number) =>
      new Date(Date.now() + offset * dayMs).toISOString().slice(0, 10).replaceAll("-", "");
    const daysOf = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, index) => dayOf(first + index));
    expect(await names()).toEqual(daysOf(-1, 7));
    await keepInbox(own.pool, new Date(Date.now() + 30 * dayMs));
    expect(await names()).toEqual([...daysOf(0, 7), ...daysOf(29, 37)]);
    await own.close();
  });

  test("keeps strange days in the default partition, whose old rows are deleted", async () => {
    const insert = (days: number) =>
      database.admin.query(
        "INSERT INTO inbox SELECT $1, 'e' || $2, (now() AT TIME ZONE 'utc')::date + $2::int",
        [group, days],
      );
    const lieElsewhere = async () => {
      const { rows } = await database.admin.query<{ id: string; place: string }>(
        "SELECT event_id AS id, tableoid::regclass::text AS place FROM inbox WHERE consumer = $1",
        [group],
      );
      return new Map(rows.map(({ id, place }) => [id, place === "inbox_other"]));
    };
    for (const days of [-31, -29, 20, 0]) await insert(days);
    await keepInbox(database.pool, new Date());
    const kept: [string, boolean][] = [
      ["e-29", true],
      ["e20", true],
      ["e0", false],
    ];
    expect(await lieElsewhere()).toEqual(new Map(kept));
    // The day that will come has rows in the default partition already: it is left there.
    await keepInbox(database.pool, new Date(Date.now() + 13 * dayMs));
    expect(await lieElsewhere()).toEqual(new Map(kept.slice(1)));
    expect(await partitions()).toHaveLength(1 + 9 + 8);
  });

  test("is kept by a role that may neither make nor drop a table itself", async () => {
    const drop = sql.type(z.object({}).strict())`DROP TABLE inbox_other`;
    await expect(database.pool.query(drop)).rejects.toThrow(/must be owner/);
    const make = sql.type(z.object({}).strict())`CREATE TABLE mine ()`;
    await expect(database.pool.query(make)).rejects.toThrow(/permission denied/);
  });
});
