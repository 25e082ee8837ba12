import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createSqlTag, sql } from "slonik";
import * as z from "zod";
import { createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { type Pool, connectPool } from "./pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";
import { type Db, withStatementTimeout, transact } from "./transact.ts";

const { type: typedSql } = createSqlTag();
const VoidRow = z.object({}).strict();

let database: TestDatabase;
let pool: Pool;
const logLines: string[] = [];
const log = createLog(
  { service: "test", level: "info" },
  { write: (text) => void logLines.push(text) },
);

const connectTestPool = (
  overrides: { connectionsMax?: number; statementTimeoutMs?: number } = {},
) =>
  connectPool({
    url: database.adminUrl,
    applicationName: "pool test",
    connectionsMax: 4,
    log,
    ...overrides,
  });

beforeAll(async () => {
  database = await createTestDatabase([]);
  pool = await connectTestPool();
  await pool.query(typedSql(VoidRow)`CREATE TABLE things (id text PRIMARY KEY, amount numeric)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe("a cached plan", () => {
  test("from when a table was small does not read the whole table after it has grown", async () => {
    await pool.query(typedSql(VoidRow)`CREATE TABLE grown (id text PRIMARY KEY)`);
    const insertRows = (fromNumber: number, toNumber: number) =>
      pool.query(typedSql(VoidRow)`
        INSERT INTO grown SELECT 'id' || n FROM generate_series(${fromNumber}::int, ${toNumber}::int) AS n
      `);
    await insertRows(1, 50);
    await pool.query(typedSql(VoidRow)`ANALYZE grown`);
    const findRow = (db: Db) =>
      db.any(sql.prepared("find_grown", z.object({ id: z.string() }))`
        SELECT id FROM grown WHERE id = ${"id7"}
      `);
    const readCount = await pool.connect(async (connection) => {
      // Postgres caches the plan of the sixth execution.
      for (let attempt = 0; attempt < 8; attempt += 1) await findRow(connection);
      await insertRows(51, 10_000);
      return connection.transaction(async (tx) => {
        await findRow(tx);
        return tx.oneFirst(typedSql(z.object({ count: z.coerce.number() }))`
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
  ])("%s survives a round trip as text, as %s and in a list", async (text, type) => {
    const cast = sql.identifier([type]);
    const readRow = await pool.one(typedSql(
      z.object({ one: z.string(), list: z.array(z.string()) }),
    )`
      SELECT ${text}::${cast} AS one, ARRAY[${text}::${cast}] AS list
    `);
    expect(readRow).toEqual({ one: text, list: [text] });
  });

  test("round-trips timestamptz as a Date to the millisecond, whatever the session's time zone", async () => {
    const at = new Date("2026-11-21T10:00:00.123Z");
    const Row = z.object({ at: z.date(), text: z.string() });
    const readRow = await pool.one(typedSql(Row)`
      SELECT ${sql.timestamp(at)} AS at,
        to_char(${sql.timestamp(at)} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS text
    `);
    expect(readRow).toEqual({ at, text: "2026-11-21 10:00:00.123" });
  });

  test("returns bytes, booleans, small integers and null as native values", async () => {
    const Row = z.object({
      bytes: z.instanceof(Uint8Array),
      yes: z.boolean(),
      count: z.int(),
      none: z.null(),
    });
    const readRow = await pool.one(typedSql(Row)`
      SELECT '\\x00ff'::bytea AS bytes, true AS yes, 7::int AS count, NULL AS none
    `);
    expect([...readRow.bytes]).toEqual([0, 255]);
    expect(readRow).toMatchObject({ yes: true, count: 7, none: null });
  });
});

describe("rows", () => {
  test("are decoded by the schema of their query", async () => {
    const Row = z.object({ count: z.string().transform(Number) });
    expect(await pool.any(typedSql(Row)`SELECT 5::int8 AS count`)).toEqual([{ count: 5 }]);
  });

  test("that violate the schema throw, and the log names the column and the rule, never the value", async () => {
    const invalidQuery = pool.any(
      typedSql(z.object({ amount: z.string() }))`SELECT 5 AS amount, 'hunter2' AS s`,
    );
    const error: unknown = await invalidQuery.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "Error", message: expect.stringContaining("schema") });
    logLines.length = 0;
    log.error({ err: error }, "request failed");
    expect(logLines.join("")).toContain("amount: Invalid input: expected string, received number");
    expect(logLines.join("")).not.toContain("hunter2");
  });
});

describe("errors in the log", () => {
  test("name the violated constraint without the statement's values", async () => {
    const insert = () =>
      pool.query(typedSql(VoidRow)`INSERT INTO things (id) VALUES (${"plk_live_hunter2"})`);
    await insert();
    const error: unknown = await insert().catch((reason: unknown) => reason);
    logLines.length = 0;
    log.error({ err: error }, "request failed");
    expect(logLines.join("")).toContain("things_pkey");
    expect(logLines.join("")).not.toContain("hunter2");
  });
});

describe("the session", () => {
  test("has the application's name and statement timeouts", async () => {
    const Row = z.object({ name: z.string(), timeout: z.string(), idle: z.string() });
    expect(
      await pool.one(typedSql(Row)`
        SELECT current_setting('application_name') AS name,
          current_setting('statement_timeout') AS timeout,
          current_setting('idle_in_transaction_session_timeout') AS idle
      `),
    ).toEqual({ name: "pool test", timeout: "5s", idle: "5s" });
  });

  test("fails a statement that exceeds its time limit, and runs the next one", async () => {
    const shortTimeoutPool = await connectTestPool({
      statementTimeoutMs: provokedTimeoutMs(1_000),
      connectionsMax: 1,
    });
    const slowQuery = shortTimeoutPool.any(
      typedSql(z.object({ slept: z.unknown() }))`SELECT pg_sleep(3600) AS slept`,
    );
    await expect(slowQuery).rejects.toThrow(/timeout/i);
    expect(
      await shortTimeoutPool.oneFirst(typedSql(z.object({ one: z.int() }))`SELECT 1 AS one`),
    ).toBe(1);
    await shortTimeoutPool.end();
  });

  test("rolls back a failed transaction and leaves the connection clean", async () => {
    const singleConnectionPool = await connectTestPool({ connectionsMax: 1 });
    const failingTransaction = singleConnectionPool.transaction(async (tx) => {
      await tx.query(typedSql(VoidRow)`INSERT INTO things (id) VALUES ('rolled back')`);
      throw new Error("changed my mind");
    });
    await expect(failingTransaction).rejects.toThrow("changed my mind");
    expect(
      await singleConnectionPool.exists(
        typedSql(VoidRow)`SELECT FROM things WHERE id = 'rolled back'`,
      ),
    ).toBe(false);
    await singleConnectionPool.end();
  });
});

describe("an unresponsive database", () => {
  const connectBehindProxy = async () => {
    const proxy = await startTcpProxy(new URL(database.adminUrl));
    const url = new URL(database.adminUrl);
    url.port = String(proxy.port);
    const proxiedPool = await connectPool({
      url: url.href,
      applicationName: "silenced",
      connectionsMax: 2,
      statementTimeoutMs: provokedTimeoutMs(1_000),
      log,
    });
    const runQuery = () =>
      proxiedPool.oneFirst(typedSql(z.object({ one: z.int() }))`SELECT 1 AS one`);
    const close = async () => {
      await proxiedPool.end();
      await proxy.kill();
    };
    return { proxy, pool: proxiedPool, runQuery, close };
  };

  test("fails all pending queries, and serves new connections once it recovers", async () => {
    const { proxy, runQuery, close } = await connectBehindProxy();
    await Promise.all([runQuery(), runQuery()]);
    proxy.stall();
    const queryResults = await Promise.allSettled(Array.from({ length: 6 }, runQuery));
    expect(queryResults.map(({ status }) => status)).toEqual(
      Array.from({ length: 6 }, () => "rejected"),
    );
    const connectionsBefore = proxy.connectionCount();
    await proxy.forward();
    expect(await Promise.all([runQuery(), runQuery()])).toEqual([1, 1]);
    expect(proxy.connectionCount()).toBeGreaterThan(connectionsBefore);
    await close();
  });

  test("fails a transaction in progress", async () => {
    const { proxy, pool: proxiedPool, runQuery, close } = await connectBehindProxy();
    const failingTransaction = transact(proxiedPool, async (tx) => {
      await tx.query(typedSql(VoidRow)`INSERT INTO things (id) VALUES ('half')`);
      proxy.stall();
      await tx.query(typedSql(VoidRow)`INSERT INTO things (id) VALUES ('whole')`);
    });
    await expect(failingTransaction).rejects.toThrow();
    await proxy.forward();
    expect(await runQuery()).toBe(1);
    expect(await pool.exists(typedSql(VoidRow)`SELECT FROM things WHERE id = 'half'`)).toBe(false);
    await close();
  });

  test("is not assumed when a statement with a longer time limit is slow", async () => {
    const { pool: proxiedPool, close } = await connectBehindProxy();
    const Slept = z.object({ slept: z.unknown() });
    await transact(proxiedPool, (tx) =>
      withStatementTimeout(tx, ampleTimeoutMs, () =>
        // oxlint-disable-next-line reliability/no-fixed-wait -- must exceed the pool's usual deadline
        tx.any(typedSql(Slept)`SELECT pg_sleep(1.7) AS slept`),
      ),
    );
    await close();
  });
});

describe("the pool", () => {
  const countBackends = async (name: string): Promise<number> => {
    const Row = z.object({ count: z.string() });
    const count = await pool.oneFirst(typedSql(Row)`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE application_name = ${name} AND datname = current_database()
    `);
    return Number(count);
  };

  test("stays within its connection limit and still serves every query", async () => {
    const smallPool = await connectPool({
      url: database.adminUrl,
      applicationName: "small pool",
      connectionsMax: 2,
      log,
    });
    let backendCountMax = 0;
    const queryResults = Array.from({ length: 20 }, async () => {
      await smallPool.any(typedSql(z.object({ one: z.int() }))`SELECT 1 AS one`);
      backendCountMax = Math.max(backendCountMax, await countBackends("small pool"));
    });
    await Promise.all(queryResults);
    expect(backendCountMax).toBeLessThanOrEqual(2);
    await smallPool.end();
  });

  test("recovers with new connections after all idle and busy ones were terminated", async () => {
    const terminatedPool = await connectPool({
      url: database.adminUrl,
      applicationName: "victim",
      connectionsMax: 3,
      statementTimeoutMs: ampleTimeoutMs,
      log,
    });
    const Slept = z.object({ slept: z.unknown() });
    const runQuery = () =>
      terminatedPool.oneFirst(typedSql(z.object({ one: z.int() }))`SELECT 1 AS one`);
    await Promise.all([runQuery(), runQuery(), runQuery()]);
    const busyQuery = terminatedPool
      .any(typedSql(Slept)`SELECT pg_sleep(3600) AS slept`)
      .catch((error: unknown) => error);
    await waitUntil("the connection is busy", () =>
      pool.exists(typedSql(VoidRow)`
        SELECT FROM pg_stat_activity
        WHERE application_name = 'victim' AND datname = current_database()
          AND wait_event = 'PgSleep'
      `),
    );
    await pool.any(typedSql(z.object({ done: z.boolean() }))`
      SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity
      WHERE application_name = 'victim' AND datname = current_database()
    `);
    expect(await busyQuery).toMatchObject({ message: expect.stringMatching(/terminated/) });
    // Each terminated connection can make one query fail if the pool has not noticed the
    // termination yet.
    await waitUntil("the pool has replaced its connections", async () => {
      const results = await Promise.allSettled([runQuery(), runQuery(), runQuery()]);
      return results.every(({ status }) => status === "fulfilled");
    });
    const queryResults = await Promise.all(Array.from({ length: 10 }, runQuery));
    expect(queryResults).toEqual(Array.from({ length: 10 }, () => 1));
    await terminatedPool.end();
    await waitUntil("all sessions have ended", async () => (await countBackends("victim")) === 0);
  });

  test("rejects a database that does not exist", async () => {
    const url = new URL(database.adminUrl);
    url.pathname = "/none";
    const options = { url: url.href, applicationName: "none", connectionsMax: 1, log };
    await expect(connectPool(options)).rejects.toThrow(/does not exist/);
  });

  test("rejects an unsupported sslmode instead of connecting without TLS", async () => {
    const url = `${database.adminUrl}?sslmode=verify-full`;
    const options = { url, applicationName: "tls", connectionsMax: 1, log };
    await expect(connectPool(options)).rejects.toThrow(/sslmode/);
  });
});
