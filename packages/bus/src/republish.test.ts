import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { outgoing, publish } from "./outbox.ts";
import {
  type Republishing,
  askToRepublish,
  findRepublish,
  republishPage,
  startRepublishing,
} from "./republish.ts";
import { openTestSchema, quietLog, testEvent } from "./testing/rig.ts";

const event = testEvent("things.v1", "thing.snapshot");
const what = "things";
const pageRows = 100;
const pauseMs = 100;
const thingsCount = 250;

const ThingRow = z.object({ id: z.string(), version: z.int() });
const OutboxRow = z.object({ label: z.string() });

const database = useRig(openTestSchema);
const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
/** Ends what a test began, even if the test failed in between. */
const cleanUps: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  await database.admin.query(`
    DROP TABLE IF EXISTS things;
    CREATE TABLE things (id text PRIMARY KEY, version int NOT NULL);
    GRANT ALL ON things TO PUBLIC;
    INSERT INTO things SELECT 'thing_' || lpad(n::text, 4, '0'), 1
      FROM generate_series(1, ${thingsCount}) AS n;
    TRUNCATE outbox, republishes;
  `);
});
afterEach(async () => {
  await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
});

const things: Republishing = {
  what,
  table: "things",
  column: "id",
  read: async (tx, ids, now) => {
    const rows = await tx.any(sql.type(ThingRow)`
      SELECT id, version FROM things WHERE id = ANY (${sql.array([...ids], "text")}) ORDER BY id
    `);
    return rows.map(({ id, version }) =>
      outgoing(event, { key: id, occurredAt: now, data: { step: version } }),
    );
  },
};

const thing = (place: number): string => `thing_${String(place).padStart(4, "0")}`;
const allTold = Array.from({ length: thingsCount }, (_, index) => `${thing(index + 1)}:1`);

const ask = () => askToRepublish(database.pool, what, clock.now());

/** A turn of any replica, once the pause is over. */
const turn = (republishing = things) => {
  clock.advance(pauseMs);
  return republishPage(database.pool, republishing, clock.now());
};

/** Takes what the outbox holds, as the relay does, in its order; such as `thing_0001:1`. */
const relay = (): Promise<readonly string[]> =>
  database.pool.anyFirst(sql.type(OutboxRow)`
    WITH sent AS (DELETE FROM outbox RETURNING *)
    SELECT key || ':' || (value::jsonb ->> 'step') AS label FROM sent ORDER BY seq
  `);

/** Turns until all is told; answers what was sent. */
const finish = async (): Promise<string[]> => {
  const sent: string[] = [];
  for (let turns = 0; turns < 50; turns += 1) {
    const { isEnded } = await turn();
    sent.push(...(await relay()));
    if (isEnded) return sent;
  }
  throw new Error("it does not end");
};

/** A change of some things by another transaction, which stays open until it is told to commit. */
const holdChange = async (...ids: string[]) => {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  cleanUps.push(() => other.end());
  await other.query("BEGIN");
  for (const id of ids) {
    await other.query("UPDATE things SET version = version + 1 WHERE id = $1", [id]);
  }
  return {
    other,
    /** Tells of the new state, and commits. */
    commit: async () => {
      for (const id of ids) {
        await other.query(
          `INSERT INTO outbox (id, topic, key, type, occurred_at, value)
           VALUES ($1, 'things.v1', $1, 'thing.changed', now(), '{"step":2}')`,
          [id],
        );
      }
      await other.query("COMMIT");
    },
  };
};

describe("a republication (rule EVENT-5)", () => {
  test("tells every thing once, a page at a time, and then no more", async () => {
    expect(await findRepublish(database.pool, what)).toBeUndefined();
    expect((await turn()).isWritten).toBe(false);
    const { askedAt } = await ask();
    await turn();
    expect(await relay()).toEqual(allTold.slice(0, pageRows));
    expect(await findRepublish(database.pool, what)).toEqual({
      askedAt,
      publishedCount: pageRows,
      endedAt: null,
    });
    expect(await finish()).toEqual(allTold.slice(pageRows));
    expect(await findRepublish(database.pool, what)).toEqual({
      askedAt,
      publishedCount: thingsCount,
      endedAt: clock.now(),
    });
    expect((await turn()).isWritten).toBe(false);
  });

  test("asked for again, begins anew, also while it runs: a consumer may have lost what was told", async () => {
    await ask();
    await turn();
    await relay();
    clock.advance(1);
    expect(await ask()).toEqual({ askedAt: clock.now(), publishedCount: 0, endedAt: null });
    expect(await finish()).toEqual(allTold);
    clock.advance(1);
    expect(await ask()).toEqual({ askedAt: clock.now(), publishedCount: 0, endedAt: null });
    expect(await finish()).toEqual(allTold);
  });

  test("broken off within a page, goes on where the last whole page ended", async () => {
    await ask();
    await turn();
    expect(await relay()).toEqual(allTold.slice(0, pageRows));
    const broken = { ...things, read: () => Promise.reject(new Error("the process is gone")) };
    await expect(turn(broken)).rejects.toThrow("the process is gone");
    expect(await finish()).toEqual(allTold.slice(pageRows));
  });

  test("of a table without rows, ends at once", async () => {
    await database.admin.query("DELETE FROM things");
    await ask();
    expect(await turn()).toEqual({ isWritten: false, isEnded: true, publishedCount: 0 });
  });

  test("follows a column of numbers as numbers", async () => {
    await database.admin.query(
      "ALTER TABLE things ADD COLUMN seq bigint UNIQUE GENERATED ALWAYS AS IDENTITY",
    );
    const seen: string[] = [];
    const bySeq: Republishing = {
      ...things,
      column: "seq",
      read: async (_tx, places) => {
        seen.push(...places);
        return [];
      },
    };
    await ask();
    while (!(await turn(bySeq)).isEnded);
    expect(seen).toEqual(Array.from({ length: thingsCount }, (_, index) => String(index + 1)));
  });
});

describe("a republication beside live events", () => {
  test("waits while more than a few of them are unsent", async () => {
    await ask();
    await transact(database.pool, (tx) =>
      publish(
        tx,
        Array.from({ length: 21 }, (_, step) =>
          outgoing(event, { key: "live", occurredAt: clock.now(), data: { step } }),
        ),
      ),
    );
    expect((await turn()).isWritten).toBe(false);
    await database.admin.query("DELETE FROM outbox WHERE seq = (SELECT min(seq) FROM outbox)");
    expect((await turn()).isWritten).toBe(true);
    expect((await turn()).isWritten).toBe(false);
  });

  test("never tells a state after a newer one (rule EVENT-5)", async () => {
    const change = await holdChange(thing(60), thing(40));
    await ask();
    await turn();
    expect(await relay()).toEqual(allTold.slice(0, 39));
    const waiting = turn();
    await somebodyWaits();
    await change.commit();
    await waiting;
    const sent = [...(await relay()), ...(await finish())];
    expect(sent.filter((label) => label.startsWith(thing(40)))).toEqual([
      `${thing(40)}:2`,
      `${thing(40)}:2`,
    ]);
    expect(sent).toHaveLength(thingsCount - 39 + 2);
    expect(sent).not.toContain(`${thing(60)}:1`);
  });

  // Otherwise Postgres would have to break the circle: a second's wait for whoever is live.
  test("waits for nobody while it holds something", async () => {
    const change = await holdChange(thing(60));
    await ask();
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const slow: Republishing = {
      ...things,
      read: async (tx, places, now) => {
        held.resolve();
        await released.promise;
        return things.read(tx, places, now);
      },
    };
    const page = turn(slow);
    await Promise.race([held.promise, page]);
    const reversed = change.other.query("UPDATE things SET version = 9 WHERE id = $1", [thing(5)]);
    await somebodyWaits();
    released.resolve();
    await page;
    await reversed;
    await change.commit();
    expect(await relay()).toContain(`${thing(5)}:1`);
  });
});

describe("republishing in several replicas", () => {
  test("gives a page to one of them, and a pause to all", async () => {
    await ask();
    clock.advance(pauseMs);
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const slow: Republishing = {
      ...things,
      read: async (tx, places, now) => {
        held.resolve();
        await released.promise;
        return things.read(tx, places, now);
      },
    };
    const page = republishPage(database.pool, slow, clock.now());
    await Promise.race([held.promise, page]);
    expect((await republishPage(database.pool, things, clock.now())).isWritten).toBe(false);
    released.resolve();
    expect((await page).isWritten).toBe(true);
    await relay();
    clock.advance(pauseMs - 1);
    expect((await republishPage(database.pool, things, clock.now())).isWritten).toBe(false);
    clock.advance(1);
    expect((await republishPage(database.pool, things, clock.now())).isWritten).toBe(true);
  });

  test("goes on in another one whose clock is behind", async () => {
    await ask();
    await turn();
    await relay();
    const behind = new Date(clock.now().getTime() - 60_000);
    expect((await republishPage(database.pool, things, behind)).isWritten).toBe(true);
  });

  test("works by itself once it is woken, and wakes the relay after each page", async () => {
    const sent: string[] = [];
    let pages = 0;
    const loop = startRepublishing({
      pool: database.pool,
      republishing: things,
      clock,
      log: quietLog,
      afterCommit: () => (pages += 1),
    });
    cleanUps.push(() => loop.stop());
    await ask();
    loop.wake();
    await waitUntil("all is told", async () => {
      sent.push(...(await relay()));
      clock.advance(pauseMs);
      return (await findRepublish(database.pool, what))?.endedAt !== null;
    });
    sent.push(...(await relay()));
    expect(sent).toEqual(allTold);
    expect(pages).toBe(Math.ceil(thingsCount / pageRows));
  });
});

const somebodyWaits = () =>
  waitUntil("somebody waits", async () => (await countLockWaits(database.pool)) === 1);
