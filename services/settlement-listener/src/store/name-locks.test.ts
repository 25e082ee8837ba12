import { expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { openRig } from "../testing/open-rig.ts";
import { lockNames, shareNames } from "./name-locks.ts";

const rig = useRig(openRig);
const Count = z.object({ count: z.int() });

const names = (count: number) => Array.from({ length: count }, (_, index) => `name ${index}`);

// Guards against a full lock table: it is of the whole server, and has some 6,400 places by default.
test.each([lockNames, shareNames])(
  "a chunk of 5,000 names takes 256 locks at most",
  async (lock) => {
    const count = await transact(rig.pool, async (tx) => {
      await lock(tx, "link", names(5_000));
      const row = await tx.one(sql.type(Count)`
      SELECT count(*)::int AS count FROM pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid()
    `);
      return row.count;
    });
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThanOrEqual(256);
  },
);

test("one name among many waits for the same name alone, and not for it as another thing", async () => {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = transact(rig.pool, async (tx) => {
    await lockNames(tx, "link", names(5_000));
    held.resolve();
    await released.promise;
  });
  await held.promise;
  await transact(rig.pool, (tx) => lockNames(tx, "payment", ["name 7"]));
  const done: string[] = [];
  const waiting = transact(rig.pool, (tx) => shareNames(tx, "link", ["name 7"])).then(() =>
    done.push("shared"),
  );
  await waitUntil("somebody waits", async () => (await countLockWaits(rig.pool)) > 0);
  expect(done).toEqual([]);
  released.resolve();
  await Promise.all([holding, waiting]);
});

test("many who lock overlapping names in any order all get through", async () => {
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      transact(rig.pool, (tx) =>
        lockNames(tx, "link", index % 2 === 0 ? names(400) : names(600).toReversed()),
      ),
    ),
  );
});
