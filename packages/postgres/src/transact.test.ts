import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { refuse } from "@payment-links/contracts";
import { openLog } from "@payment-links/runtime";
import { nothing } from "./nothing.ts";
import { type Pool, openPool } from "./pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";
import { type Transaction, transact } from "./transact.ts";

const Pid = sql.type(z.object({ pid: z.int() }));

let database: TestDatabase;
let pool: Pool;
const log = openLog({ service: "test", level: "fatal" });

beforeAll(async () => {
  database = await createTestDatabase([]);
  // With one connection alone, its process tells whether it was kept.
  pool = await openPool({
    url: database.adminUrl,
    applicationName: "transact",
    connectionsMax: 1,
    log,
  });
  await pool.query(nothing`CREATE TABLE things (id text PRIMARY KEY)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const insert = (tx: Transaction, id: string) =>
  tx.query(nothing`INSERT INTO things (id) VALUES (${id})`);
const isStored = (id: string) => pool.exists(nothing`SELECT FROM things WHERE id = ${id}`);
const readPid = () => pool.oneFirst(Pid`SELECT pg_backend_pid() AS pid`);

describe("transact", () => {
  test("stores what the work stored, and answers what it answered", async () => {
    const answer = await transact(pool, async (tx) => {
      await insert(tx, "kept");
      return "done";
    });
    expect(answer).toBe("done");
    expect(await isStored("kept")).toBe(true);
  });

  test("given a refusal, throws that one, stores nothing and keeps the connection", async () => {
    const pid = await readPid();
    const refusal = refuse("WALLET_LIMIT");
    const refused = transact(pool, async (tx) => {
      await insert(tx, "refused");
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect(await isStored("refused")).toBe(false);
    expect(await readPid()).toBe(pid);
  });

  test("given a refusal for a statement that failed, keeps the connection too", async () => {
    const pid = await readPid();
    const refused = transact(pool, async (tx) => {
      await insert(tx, "twice");
      await insert(tx, "twice").catch(() => {
        throw refuse("HANDLE_TAKEN");
      });
    });
    await expect(refused).rejects.toThrow("HANDLE_TAKEN");
    expect(await isStored("twice")).toBe(false);
    expect(await readPid()).toBe(pid);
  });

  test("given a refusal within a savepoint, keeps what was stored outside of it", async () => {
    await transact(pool, async (tx) => {
      await insert(tx, "outside");
      const inner = tx.transaction(async (savepoint) => {
        await insert(savepoint, "inside");
        throw refuse("WALLET_EXISTS");
      });
      await expect(inner).rejects.toThrow("WALLET_EXISTS");
    });
    expect(await isStored("outside")).toBe(true);
    expect(await isStored("inside")).toBe(false);
  });

  test("given any other failure, stores nothing and trusts the connection no more", async () => {
    const pid = await readPid();
    const failed = transact(pool, async (tx) => {
      await insert(tx, "failed");
      throw new Error("a defect");
    });
    await expect(failed).rejects.toThrow("a defect");
    expect(await isStored("failed")).toBe(false);
    expect(await readPid()).not.toBe(pid);
  });

  test.each(["40001", "40P01"])("given SQL state %s, runs the work again", async (state) => {
    let runs = 0;
    await transact(pool, async (tx) => {
      runs += 1;
      await insert(tx, `again ${state}`);
      if (runs > 2) return;
      await tx.query(sql.unsafe`
        DO ${sql.literalValue(`BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '${state}'; END`)}
      `);
    });
    expect(runs).toBe(3);
    expect(await isStored(`again ${state}`)).toBe(true);
  });
});
