import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createSqlTag, sql } from "slonik";
import * as z from "zod";
import { openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { type Pool, openPool } from "./pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";
import { type Db, patiently, transact } from "./transact.ts";

const { type: row } = createSqlTag();
const nothing = z.object({}).strict();

let database: TestDatabase;
let pool: Pool;
const written: string[] = [];
const log = openLog(
  { service: "test", level: "info" },
  { write: (text) => void written.push(text) },
);

const open = (more: { connectionsMax?: number; statementTimeoutMs?: number } = {}) =>
  openPool({
    url: database.adminUrl,
    applicationName: "pool test",
    connectionsMax: 4,
    log,
    ...more,
  });

beforeAll(async () => {
  database = await createTestDatabase([]);
  pool = await open();
  await pool.query(row(nothing)`CREATE TABLE things (id text PRIMARY KEY, amount numeric)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe("a plan that is kept", () => {
  test("made while a table was small, does not read all of it when it has grown", async () => {
    await pool.query(row(nothing)`CREATE TABLE grown (id text PRIMARY KEY)`);
    const grow = (from: number, to: number) =>
      pool.query(row(nothing)`
        INSERT INTO grown SELECT 'id' || n FROM generate_series(${from}::int, ${to}::int) AS n
      `);
    await grow(1, 50);
    await pool.query(row(nothing)`ANALYZE grown`);
    const find = (db: Db) =>
      db.any(sql.prepared("find_grown", z.object({ id: z.string() }))`
        SELECT id FROM grown WHERE id = ${"id7"}
      `);
    const readCount = await pool.connect(async (connection) => {
      // Postgres keeps the sixth plan.
      for (let at = 0; at < 8; at += 1) await find(connection);
      await grow(51, 10_000);
      return connection.transaction(async (tx) => {
        await find(tx);
        return tx.oneFirst(row(z.object({ count: z.coerce.number() }))`
          SELECT pg_stat_get_xact_tuples_returned('grown'::regclass) AS count
        `);
      });
    });
    expect(readCount).toBeLessThanOrEqual(1);
  });
});

describe("types", () => {
  test.each([
    ["12345678901234567890.123456789012345678", "numeric"],
    ["0.1", "numeric"],
    ["1.10", "numeric"],
    ["9".repeat(78), "numeric"],
    ["9007199254740993", "int8"],
    ["-9223372036854775808", "int8"],
    ["2026-11-21", "date"],
  ])(
    "%s goes in as text and comes out as the same text, as %s and in a list",
    async (text, type) => {
      const cast = sql.identifier([type]);
      const read = await pool.one(row(z.object({ one: z.string(), list: z.array(z.string()) }))`
      SELECT ${text}::${cast} AS one, ARRAY[${text}::${cast}] AS list
    `);
      expect(read).toEqual({ one: text, list: [text] });
    },
  );

  test("timestamptz is a Date to the millisecond, in and out, whatever the session's zone", async () => {
    const at = new Date("2026-11-21T10:00:00.123Z");
    const Row = z.object({ at: z.date(), text: z.string() });
    const read = await pool.one(row(Row)`
      SELECT ${sql.timestamp(at)} AS at,
        to_char(${sql.timestamp(at)} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS text
    `);
    expect(read).toEqual({ at, text: "2026-11-21 10:00:00.123" });
  });

  test("bytes, booleans, small integers and null are what they are", async () => {
    const Row = z.object({
      bytes: z.instanceof(Uint8Array),
      yes: z.boolean(),
      count: z.int(),
      none: z.null(),
    });
    const read = await pool.one(row(Row)`
      SELECT '\\x00ff'::bytea AS bytes, true AS yes, 7::int AS count, NULL AS none
    `);
    expect([...read.bytes]).toEqual([0, 255]);
    expect(read).toMatchObject({ yes: true, count: 7, none: null });
  });
});

describe("rows", () => {
  test("are decoded by the schema of their query", async () => {
    const Row = z.object({ count: z.string().transform(Number) });
    expect(await pool.any(row(Row)`SELECT 5::int8 AS count`)).toEqual([{ count: 5 }]);
  });

  test("that breach it throw; the log tells the column and the rule, never the value", async () => {
    const wrong = pool.any(
      row(z.object({ amount: z.string() }))`SELECT 5 AS amount, 'hunter2' AS s`,
    );
    const error: unknown = await wrong.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "Error", message: expect.stringContaining("schema") });
    written.length = 0;
    log.error({ err: error }, "a request failed");
    expect(written.join("")).toContain("amount: Invalid input: expected string, received number");
    expect(written.join("")).not.toContain("hunter2");
  });
});

describe("errors in the log", () => {
  test("tell what was breached without the statement's values", async () => {
    const insert = () =>
      pool.query(row(nothing)`INSERT INTO things (id) VALUES (${"plk_live_hunter2"})`);
    await insert();
    const error: unknown = await insert().catch((reason: unknown) => reason);
    written.length = 0;
    log.error({ err: error }, "a request failed");
    expect(written.join("")).toContain("things_pkey");
    expect(written.join("")).not.toContain("hunter2");
  });
});

describe("the session", () => {
  test("is named after the application and cuts statements off", async () => {
    const Row = z.object({ name: z.string(), timeout: z.string(), idle: z.string() });
    expect(
      await pool.one(row(Row)`
        SELECT current_setting('application_name') AS name,
          current_setting('statement_timeout') AS timeout,
          current_setting('idle_in_transaction_session_timeout') AS idle
      `),
    ).toEqual({ name: "pool test", timeout: "5s", idle: "5s" });
  });

  test("given a statement over its time, fails it and goes on with the next", async () => {
    const hasty = await open({ statementTimeoutMs: provokedTimeoutMs(500), connectionsMax: 1 });
    const slow = hasty.any(row(z.object({ slept: z.unknown() }))`SELECT pg_sleep(3600) AS slept`);
    await expect(slow).rejects.toThrow(/timeout/i);
    expect(await hasty.oneFirst(row(z.object({ one: z.int() }))`SELECT 1 AS one`)).toBe(1);
    await hasty.end();
  });

  test("given a transaction that fails, keeps nothing of it and leaves the connection clean", async () => {
    const single = await open({ connectionsMax: 1 });
    const failing = single.transaction(async (tx) => {
      await tx.query(row(nothing)`INSERT INTO things (id) VALUES ('rolled back')`);
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await single.exists(row(nothing)`SELECT FROM things WHERE id = 'rolled back'`)).toBe(
      false,
    );
    await single.end();
  });
});

describe("a database that falls silent", () => {
  const openBehindProxy = async () => {
    const proxy = await openTcpProxy(new URL(database.adminUrl));
    const url = new URL(database.adminUrl);
    url.port = String(proxy.port);
    const silenced = await openPool({
      url: url.href,
      applicationName: "silenced",
      connectionsMax: 2,
      statementTimeoutMs: provokedTimeoutMs(200),
      log,
    });
    const ask = () => silenced.oneFirst(row(z.object({ one: z.int() }))`SELECT 1 AS one`);
    const close = async () => {
      await silenced.end();
      await proxy.kill();
    };
    return { proxy, pool: silenced, ask, close };
  };

  test("fails whoever asks, and is asked on new connections once it is back", async () => {
    const { proxy, ask, close } = await openBehindProxy();
    await Promise.all([ask(), ask()]);
    proxy.stall();
    const asked = await Promise.allSettled(Array.from({ length: 6 }, ask));
    expect(asked.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "rejected"));
    const connectionsBefore = proxy.connections();
    await proxy.pass();
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    expect(proxy.connections()).toBeGreaterThan(connectionsBefore);
    await close();
  });

  test("in the middle of a transaction fails it", async () => {
    const { proxy, pool: silenced, ask, close } = await openBehindProxy();
    const failing = transact(silenced, async (tx) => {
      await tx.query(row(nothing)`INSERT INTO things (id) VALUES ('half')`);
      proxy.stall();
      await tx.query(row(nothing)`INSERT INTO things (id) VALUES ('whole')`);
    });
    await expect(failing).rejects.toThrow();
    await proxy.pass();
    expect(await ask()).toBe(1);
    expect(await pool.exists(row(nothing)`SELECT FROM things WHERE id = 'half'`)).toBe(false);
    await close();
  });

  test("is not what a statement is taken for that may take its time", async () => {
    const { pool: silenced, close } = await openBehindProxy();
    const Slept = z.object({ slept: z.unknown() });
    await transact(silenced, (tx) =>
      patiently(tx, ampleTimeoutMs, () =>
        // oxlint-disable-next-line reliability/no-fixed-wait -- longer than silence is waited for
        tx.any(row(Slept)`SELECT pg_sleep(0.9) AS slept`),
      ),
    );
    await close();
  });
});

describe("the pool", () => {
  const backends = async (name: string): Promise<number> => {
    const Row = z.object({ count: z.string() });
    const count = await pool.oneFirst(row(Row)`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE application_name = ${name} AND datname = current_database()
    `);
    return Number(count);
  };

  test("never opens more connections than it may, and serves everybody all the same", async () => {
    const small = await openPool({
      url: database.adminUrl,
      applicationName: "small pool",
      connectionsMax: 2,
      log,
    });
    let most = 0;
    const asked = Array.from({ length: 20 }, async () => {
      await small.any(row(z.object({ one: z.int() }))`SELECT 1 AS one`);
      most = Math.max(most, await backends("small pool"));
    });
    await Promise.all(asked);
    expect(most).toBeLessThanOrEqual(2);
    await small.end();
  });

  test("given that all its connections are cut, idle and busy, goes on with new ones", async () => {
    const victim = await openPool({
      url: database.adminUrl,
      applicationName: "victim",
      connectionsMax: 3,
      statementTimeoutMs: ampleTimeoutMs,
      log,
    });
    const Slept = z.object({ slept: z.unknown() });
    const ask = () => victim.oneFirst(row(z.object({ one: z.int() }))`SELECT 1 AS one`);
    await Promise.all([ask(), ask(), ask()]);
    const busy = victim
      .any(row(Slept)`SELECT pg_sleep(3600) AS slept`)
      .catch((error: unknown) => error);
    await waitUntil("it is busy", () =>
      pool.exists(row(nothing)`
        SELECT FROM pg_stat_activity
        WHERE application_name = 'victim' AND datname = current_database()
          AND wait_event = 'PgSleep'
      `),
    );
    await pool.any(row(z.object({ done: z.boolean() }))`
      SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity
      WHERE application_name = 'victim' AND datname = current_database()
    `);
    expect(await busy).toMatchObject({ message: expect.stringMatching(/terminated/) });
    // Each cut connection may fail one query, if the pool has not yet noticed its end.
    await waitUntil("the pool has noticed", async () => {
      const outcomes = await Promise.allSettled([ask(), ask(), ask()]);
      return outcomes.every(({ status }) => status === "fulfilled");
    });
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    expect(answers).toEqual(Array.from({ length: 10 }, () => 1));
    await victim.end();
    await waitUntil("no session is left", async () => (await backends("victim")) === 0);
  });

  test("given a database that is not there, does not open", async () => {
    const url = new URL(database.adminUrl);
    url.pathname = "/none";
    const options = { url: url.href, applicationName: "none", connectionsMax: 1, log };
    await expect(openPool(options)).rejects.toThrow(/does not exist/);
  });

  test("given an sslmode that it cannot keep, does not open, rather than without TLS", async () => {
    const url = `${database.adminUrl}?sslmode=verify-full`;
    const options = { url, applicationName: "tls", connectionsMax: 1, log };
    await expect(openPool(options)).rejects.toThrow(/sslmode/);
  });
});
