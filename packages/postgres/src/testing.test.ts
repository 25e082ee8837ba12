import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Pool, openPool } from "./pool.ts";
import { type TestDatabase, countLockWaits, createTestDatabase } from "./testing.ts";
import { transact } from "./transact.ts";

const log = openLog({ service: "test", level: "fatal" });

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const openDatabase = async (): Promise<{ database: TestDatabase; pool: Pool }> => {
  const database = await createTestDatabase([]);
  ends.push(() => database.drop());
  const pool = await openPool({
    url: database.adminUrl,
    applicationName: "waits",
    connectionsMax: 2,
    log,
  });
  ends.push(() => pool.end());
  return { database, pool };
};

let database: TestDatabase;
let pool: Pool;
beforeEach(async () => {
  ({ database, pool } = await openDatabase());
});

/** A session of its own; the first one has the lock, and the others wait for it. */
const lock = async () => {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  ends.push(() => client.end());
  const locked = client.query("BEGIN; SELECT pg_advisory_xact_lock(1)");
  return { locked, end: () => client.query("ROLLBACK") };
};

test("who waits for a lock is counted in its own database alone, within one transaction too", async () => {
  const other = await openDatabase();
  const holder = await lock();
  await holder.locked;
  const first = await transact(pool, async (tx) => {
    const untilWaiting = (count: number) =>
      waitUntil(`${count} wait`, async () => (await countLockWaits(tx)) === count);
    await untilWaiting(0);
    const waiting = await lock();
    await untilWaiting(1);
    await holder.end();
    await waiting.locked;
    await untilWaiting(0);
    return waiting;
  });
  const second = await lock();
  await waitUntil("the second waits", async () => (await countLockWaits(pool)) === 1);
  expect(await countLockWaits(other.pool)).toBe(0);
  await first.end();
  await second.locked;
});
