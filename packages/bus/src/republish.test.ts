import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createOutgoingEvent, publish } from "./outbox.ts";
import {
  type RepublishSource,
  requestRepublish,
  findRepublish,
  republishPage,
  startRepublishLoop,
} from "./republish.ts";
import { createTestSchema, silentLog, createTestEventType } from "./testing/rig.ts";

const event = createTestEventType("things.v1", "thing.snapshot");
const resource = "things";
const pageSize = 100;
const pageIntervalMs = 100;
const thingsCount = 250;

const ThingRow = z.object({ id: z.string(), version: z.int() });
const OutboxRow = z.object({ label: z.string() });

const database = useRig(createTestSchema);
const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
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

const thingsSource: RepublishSource = {
  resource,
  table: "things",
  column: "id",
  readEvents: async (tx, ids, now) => {
    const rows = await tx.any(sql.type(ThingRow)`
      SELECT id, version FROM things WHERE id = ANY (${sql.array([...ids], "text")}) ORDER BY id
    `);
    return rows.map(({ id, version }) =>
      createOutgoingEvent(event, { key: id, occurredAt: now, data: { step: version } }),
    );
  },
};

const createThingId = (index: number): string => `thing_${String(index).padStart(4, "0")}`;
const allLabels = Array.from(
  { length: thingsCount },
  (_, index) => `${createThingId(index + 1)}:1`,
);

const requestTestRepublish = () => requestRepublish(database.pool, resource, clock.now());

/** A turn of any replica, once the pause is over. */
const publishPage = (source = thingsSource) => {
  clock.advance(pageIntervalMs);
  return republishPage(database.pool, source, clock.now());
};

/** Takes what the outbox holds, as the relay does, in its order; such as `thing_0001:1`. */
const takeOutboxLabels = (): Promise<readonly string[]> =>
  database.pool.anyFirst(sql.type(OutboxRow)`
    WITH sent AS (DELETE FROM outbox RETURNING *)
    SELECT key || ':' || (value::jsonb ->> 'step') AS label FROM sent ORDER BY seq
  `);

/** Turns until all is told; answers what was sent. */
const publishRemainingPages = async (): Promise<string[]> => {
  const labels: string[] = [];
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const { isEnded } = await publishPage();
    labels.push(...(await takeOutboxLabels()));
    if (isEnded) return labels;
  }
  throw new Error("it does not end");
};

/** A change of some things by another transaction, which stays open until it is told to commit. */
const startThingUpdate = async (...ids: string[]) => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  cleanUps.push(() => client.end());
  await client.query("BEGIN");
  for (const id of ids) {
    await client.query("UPDATE things SET version = version + 1 WHERE id = $1", [id]);
  }
  return {
    client,
    /** Tells of the new state, and commits. */
    commit: async () => {
      for (const id of ids) {
        await client.query(
          `INSERT INTO outbox (id, topic, key, type, occurred_at, value)
           VALUES ($1, 'things.v1', $1, 'thing.changed', now(), '{"step":2}')`,
          [id],
        );
      }
      await client.query("COMMIT");
    },
  };
};

describe("a republication (rule EVENT-5)", () => {
  test("tells every thing once, a page at a time, and then no more", async () => {
    expect(await findRepublish(database.pool, resource)).toBeUndefined();
    expect((await publishPage()).isWritten).toBe(false);
    const { askedAt } = await requestTestRepublish();
    await publishPage();
    expect(await takeOutboxLabels()).toEqual(allLabels.slice(0, pageSize));
    expect(await findRepublish(database.pool, resource)).toEqual({
      askedAt,
      publishedCount: pageSize,
      endedAt: null,
    });
    expect(await publishRemainingPages()).toEqual(allLabels.slice(pageSize));
    expect(await findRepublish(database.pool, resource)).toEqual({
      askedAt,
      publishedCount: thingsCount,
      endedAt: clock.now(),
    });
    expect((await publishPage()).isWritten).toBe(false);
  });

  test("asked for again, begins anew, also while it runs: a consumer may have lost what was told", async () => {
    await requestTestRepublish();
    await publishPage();
    await takeOutboxLabels();
    clock.advance(1);
    expect(await requestTestRepublish()).toEqual({
      askedAt: clock.now(),
      publishedCount: 0,
      endedAt: null,
    });
    expect(await publishRemainingPages()).toEqual(allLabels);
    clock.advance(1);
    expect(await requestTestRepublish()).toEqual({
      askedAt: clock.now(),
      publishedCount: 0,
      endedAt: null,
    });
    expect(await publishRemainingPages()).toEqual(allLabels);
  });

  test("broken off within a page, goes on where the last whole page ended", async () => {
    await requestTestRepublish();
    await publishPage();
    expect(await takeOutboxLabels()).toEqual(allLabels.slice(0, pageSize));
    const failingSource = {
      ...thingsSource,
      readEvents: () => Promise.reject(new Error("the process is gone")),
    };
    await expect(publishPage(failingSource)).rejects.toThrow("the process is gone");
    expect(await publishRemainingPages()).toEqual(allLabels.slice(pageSize));
  });

  test("of a table without rows, ends at once", async () => {
    await database.admin.query("DELETE FROM things");
    await requestTestRepublish();
    expect(await publishPage()).toEqual({ isWritten: false, isEnded: true, publishedCount: 0 });
  });

  test("follows a column of numbers as numbers", async () => {
    await database.admin.query(
      "ALTER TABLE things ADD COLUMN seq bigint UNIQUE GENERATED ALWAYS AS IDENTITY",
    );
    const readCursors: string[] = [];
    const sourceBySeq: RepublishSource = {
      ...thingsSource,
      column: "seq",
      readEvents: async (_tx, cursors) => {
        readCursors.push(...cursors);
        return [];
      },
    };
    await requestTestRepublish();
    while (!(await publishPage(sourceBySeq)).isEnded);
    expect(readCursors).toEqual(
      Array.from({ length: thingsCount }, (_, index) => String(index + 1)),
    );
  });
});

describe("a republication beside live events", () => {
  test("waits while more than a few of them are unsent", async () => {
    await requestTestRepublish();
    await transact(database.pool, (tx) =>
      publish(
        tx,
        Array.from({ length: 21 }, (_, step) =>
          createOutgoingEvent(event, { key: "live", occurredAt: clock.now(), data: { step } }),
        ),
      ),
    );
    expect((await publishPage()).isWritten).toBe(false);
    await database.admin.query("DELETE FROM outbox WHERE seq = (SELECT min(seq) FROM outbox)");
    expect((await publishPage()).isWritten).toBe(true);
    expect((await publishPage()).isWritten).toBe(false);
  });

  test("never tells a state after a newer one (rule EVENT-5)", async () => {
    const update = await startThingUpdate(createThingId(60), createThingId(40));
    await requestTestRepublish();
    await publishPage();
    expect(await takeOutboxLabels()).toEqual(allLabels.slice(0, 39));
    const publishing = publishPage();
    await waitForBlockedQuery();
    await update.commit();
    await publishing;
    const labels = [...(await takeOutboxLabels()), ...(await publishRemainingPages())];
    expect(labels.filter((label) => label.startsWith(createThingId(40)))).toEqual([
      `${createThingId(40)}:2`,
      `${createThingId(40)}:2`,
    ]);
    expect(labels).toHaveLength(thingsCount - 39 + 2);
    expect(labels).not.toContain(`${createThingId(60)}:1`);
  });

  // Otherwise Postgres would have to break the circle: a second's wait for whoever is live.
  test("waits for nobody while it holds something", async () => {
    const update = await startThingUpdate(createThingId(60));
    await requestTestRepublish();
    const rowsLocked = Promise.withResolvers<void>();
    const rowsReleased = Promise.withResolvers<void>();
    const slowSource: RepublishSource = {
      ...thingsSource,
      readEvents: async (tx, cursors, now) => {
        rowsLocked.resolve();
        await rowsReleased.promise;
        return thingsSource.readEvents(tx, cursors, now);
      },
    };
    const pagePromise = publishPage(slowSource);
    await Promise.race([rowsLocked.promise, pagePromise]);
    const conflictingUpdate = update.client.query("UPDATE things SET version = 9 WHERE id = $1", [
      createThingId(5),
    ]);
    await waitForBlockedQuery();
    rowsReleased.resolve();
    await pagePromise;
    await conflictingUpdate;
    await update.commit();
    expect(await takeOutboxLabels()).toContain(`${createThingId(5)}:1`);
  });
});

describe("republishing in several replicas", () => {
  test("gives a page to one of them, and a pause to all", async () => {
    await requestTestRepublish();
    clock.advance(pageIntervalMs);
    const rowsLocked = Promise.withResolvers<void>();
    const rowsReleased = Promise.withResolvers<void>();
    const slowSource: RepublishSource = {
      ...thingsSource,
      readEvents: async (tx, cursors, now) => {
        rowsLocked.resolve();
        await rowsReleased.promise;
        return thingsSource.readEvents(tx, cursors, now);
      },
    };
    const pagePromise = republishPage(database.pool, slowSource, clock.now());
    await Promise.race([rowsLocked.promise, pagePromise]);
    expect((await republishPage(database.pool, thingsSource, clock.now())).isWritten).toBe(false);
    rowsReleased.resolve();
    expect((await pagePromise).isWritten).toBe(true);
    await takeOutboxLabels();
    clock.advance(pageIntervalMs - 1);
    expect((await republishPage(database.pool, thingsSource, clock.now())).isWritten).toBe(false);
    clock.advance(1);
    expect((await republishPage(database.pool, thingsSource, clock.now())).isWritten).toBe(true);
  });

  test("goes on in another one whose clock is behind", async () => {
    await requestTestRepublish();
    await publishPage();
    await takeOutboxLabels();
    const earlierNow = new Date(clock.now().getTime() - 60_000);
    expect((await republishPage(database.pool, thingsSource, earlierNow)).isWritten).toBe(true);
  });

  test("works by itself once it is woken, and wakes the relay after each page", async () => {
    const labels: string[] = [];
    let pageCount = 0;
    const loop = startRepublishLoop({
      pool: database.pool,
      source: thingsSource,
      clock,
      log: silentLog,
      afterCommit: () => (pageCount += 1),
    });
    cleanUps.push(() => loop.stop());
    await requestTestRepublish();
    loop.wake();
    await waitUntil("all is told", async () => {
      labels.push(...(await takeOutboxLabels()));
      clock.advance(pageIntervalMs);
      return (await findRepublish(database.pool, resource))?.endedAt !== null;
    });
    labels.push(...(await takeOutboxLabels()));
    expect(labels).toEqual(allLabels);
    expect(pageCount).toBe(Math.ceil(thingsCount / pageSize));
  });
});

const waitForBlockedQuery = () =>
  waitUntil("somebody waits", async () => (await countLockWaits(database.pool)) === 1);
