import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Pool, connectPool } from "./pool.ts";
import { type TestDatabase, countLockWaits, createTestDatabase } from "./testing.ts";
import { transact } from "./transact.ts";

const log = createLog({ service: "test", level: "fatal" });

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const createDatabase = async (): Promise<{ database: TestDatabase; pool: Pool }> => {
  const database = await createTestDatabase([]);
  cleanups.push(() => database.drop());
  const pool = await connectPool({
    url: database.adminUrl,
    applicationName: "waits",
    connectionsMax: 2,
    log,
  });
  cleanups.push(() => pool.end());
  return { database, pool };
};

let database: TestDatabase;
let pool: Pool;
beforeEach(async () => {
  ({ database, pool } = await createDatabase());
});

/**
 * Starts a session that requests the same lock as the others. The first session gets the lock, and
 * the others wait.
 */
const startLockSession = async () => {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  cleanups.push(() => client.end());
  const locked = client.query("BEGIN; SELECT pg_advisory_xact_lock(1)");
  return { locked, release: () => client.query("ROLLBACK") };
};

test("countLockWaits counts only its own database, and sees changes within one transaction", async () => {
  const otherDatabase = await createDatabase();
  const lockHolder = await startLockSession();
  await lockHolder.locked;
  const firstSession = await transact(pool, async (tx) => {
    const waitForLockWaits = (count: number) =>
      waitUntil(`${count} sessions wait`, async () => (await countLockWaits(tx)) === count);
    await waitForLockWaits(0);
    const waitingSession = await startLockSession();
    await waitForLockWaits(1);
    await lockHolder.release();
    await waitingSession.locked;
    await waitForLockWaits(0);
    return waitingSession;
  });
  const secondSession = await startLockSession();
  await waitUntil("the second session waits", async () => (await countLockWaits(pool)) === 1);
  expect(await countLockWaits(otherDatabase.pool)).toBe(0);
  await firstSession.release();
  await secondSession.locked;
});
