import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { createApiError } from "@payment-links/contracts";
import { createLog } from "@payment-links/runtime";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { sqlVoid } from "./sql-void.ts";
import { type Pool, connectPool } from "./pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";
import { type Transaction, afterCommit, onTransactionEnd, transact } from "./transact.ts";

const Pid = sql.type(z.object({ pid: z.int() }));

let database: TestDatabase;
let pool: Pool;
const log = createLog({ service: "test", level: "fatal" });

beforeAll(async () => {
  database = await createTestDatabase([]);
  // With a single connection, the backend's process id shows whether the connection was reused.
  pool = await connectPool({
    url: database.adminUrl,
    applicationName: "transact",
    connectionsMax: 1,
    statementTimeoutMs: ampleTimeoutMs,
    log,
  });
  await pool.query(sqlVoid`CREATE TABLE things (id text PRIMARY KEY)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const insert = (tx: Transaction, id: string) =>
  tx.query(sqlVoid`INSERT INTO things (id) VALUES (${id})`);
const isStored = (id: string) => pool.exists(sqlVoid`SELECT FROM things WHERE id = ${id}`);
const readPid = () => pool.oneFirst(Pid`SELECT pg_backend_pid() AS pid`);

describe("transact", () => {
  test("commits what the operation stored, and returns its result", async () => {
    const result = await transact(pool, async (tx) => {
      await insert(tx, "kept");
      return "done";
    });
    expect(result).toBe("done");
    expect(await isStored("kept")).toBe(true);
  });

  test("rethrows an ApiError, rolls back and keeps the connection", async () => {
    const pid = await readPid();
    const apiError = createApiError("WALLET_LIMIT");
    const rejected = transact(pool, async (tx) => {
      await insert(tx, "refused");
      throw apiError;
    });
    await expect(rejected).rejects.toBe(apiError);
    expect(await isStored("refused")).toBe(false);
    expect(await readPid()).toBe(pid);
  });

  test("also keeps the connection when an ApiError replaces a failed statement", async () => {
    const pid = await readPid();
    const rejected = transact(pool, async (tx) => {
      await insert(tx, "twice");
      await insert(tx, "twice").catch(() => {
        throw createApiError("HANDLE_TAKEN");
      });
    });
    await expect(rejected).rejects.toThrow("HANDLE_TAKEN");
    expect(await isStored("twice")).toBe(false);
    expect(await readPid()).toBe(pid);
  });

  test("rolls back only the savepoint for an ApiError inside a savepoint", async () => {
    await transact(pool, async (tx) => {
      await insert(tx, "outside");
      const innerTransaction = tx.transaction(async (savepoint) => {
        await insert(savepoint, "inside");
        throw createApiError("WALLET_EXISTS");
      });
      await expect(innerTransaction).rejects.toThrow("WALLET_EXISTS");
    });
    expect(await isStored("outside")).toBe(true);
    expect(await isStored("inside")).toBe(false);
  });

  test("rolls back and discards the connection for any other error", async () => {
    const pid = await readPid();
    const failedTransaction = transact(pool, async (tx) => {
      await insert(tx, "failed");
      throw new Error("a defect");
    });
    await expect(failedTransaction).rejects.toThrow("a defect");
    expect(await isStored("failed")).toBe(false);
    expect(await readPid()).not.toBe(pid);
  });

  test("calls hooks after the commit, and informs those of a run that was rolled back", async () => {
    const calls: string[] = [];
    const ends: string[] = [];
    const addEnd = (id: string) => (isCommitted: boolean) => void ends.push(`${id} ${isCommitted}`);
    let runCount = 0;
    await transact(pool, async (tx) => {
      runCount += 1;
      const id = `hooked ${runCount}`;
      afterCommit(tx, () => calls.push(id));
      onTransactionEnd(tx, addEnd(id));
      await insert(tx, id);
      expect(calls).toEqual([]);
      if (runCount > 1) return;
      await tx.query(sql.unsafe`
        DO ${sql.literalValue(`BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40P01'; END`)}
      `);
    });
    expect(calls).toEqual(["hooked 2"]);
    expect(ends).toEqual(["hooked 1 false", "hooked 2 true"]);
    const failed = transact(pool, async (tx) => {
      afterCommit(tx, () => calls.push("failed"));
      onTransactionEnd(tx, addEnd("failed"));
      throw createApiError("WALLET_LIMIT");
    });
    await expect(failed).rejects.toThrow("WALLET_LIMIT");
    expect(calls).toEqual(["hooked 2"]);
    expect(ends.slice(2)).toEqual(["failed false"]);
    await pool.transaction(async (tx) => {
      expect(() => afterCommit(tx, () => {})).toThrow(TypeError);
    });
  });

  test.each(["40001", "40P01"])("retries the operation after SQLSTATE %s", async (sqlState) => {
    let runCount = 0;
    await transact(pool, async (tx) => {
      runCount += 1;
      await insert(tx, `again ${sqlState}`);
      if (runCount > 2) return;
      await tx.query(sql.unsafe`
        DO ${sql.literalValue(`BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '${sqlState}'; END`)}
      `);
    });
    expect(runCount).toBe(3);
    expect(await isStored(`again ${sqlState}`)).toBe(true);
  });
});
