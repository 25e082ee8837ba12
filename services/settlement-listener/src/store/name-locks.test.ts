import { expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { createRig } from "../testing/create-rig.ts";
import { lockNames, lockNamesShared } from "./name-locks.ts";

const rig = useRig(createRig);
const CountRow = z.object({ count: z.int() });

const createNames = (count: number) => Array.from({ length: count }, (_, index) => `name ${index}`);

// Guards against a full lock table. The whole server shares it, and by default it has about 6,400
// slots.
test.each([lockNames, lockNamesShared])(
  "takes at most 256 locks for 5,000 names",
  async (lockFunction) => {
    const count = await transact(rig.pool, async (tx) => {
      await lockFunction(tx, "link", createNames(5_000));
      const row = await tx.one(sql.type(CountRow)`
      SELECT count(*)::int AS count FROM pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid()
    `);
      return row.count;
    });
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThanOrEqual(256);
  },
);

test("makes one name wait for the same name among many, but not for that name of another kind", async () => {
  const locksHeld = Promise.withResolvers<void>();
  const locksReleased = Promise.withResolvers<void>();
  const holdingTransaction = transact(rig.pool, async (tx) => {
    await lockNames(tx, "link", createNames(5_000));
    locksHeld.resolve();
    await locksReleased.promise;
  });
  await locksHeld.promise;
  await transact(rig.pool, (tx) => lockNames(tx, "payment", ["name 7"]));
  const completed: string[] = [];
  const waitingTransaction = transact(rig.pool, (tx) =>
    lockNamesShared(tx, "link", ["name 7"]),
  ).then(() => completed.push("shared"));
  await waitUntil(
    "a transaction waits for a lock",
    async () => (await countLockWaits(rig.pool)) > 0,
  );
  expect(completed).toEqual([]);
  locksReleased.resolve();
  await Promise.all([holdingTransaction, waitingTransaction]);
});

test("completes all transactions that lock overlapping names in any order", async () => {
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      transact(rig.pool, (tx) =>
        lockNames(tx, "link", index % 2 === 0 ? createNames(400) : createNames(600).toReversed()),
      ),
    ),
  );
});
