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
/** Runs after each test, even if the test failed midway. */
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

/** Advances the clock past the pause and publishes the next page, as any replica would. */
const publishPage = (source = thingsSource) => {
  clock.advance(pageIntervalMs);
  return republishPage(database.pool, source, clock.now());
};

/** Takes all events from the outbox in order, like the relay. Returns labels such as `thing_0001:1`. */
const takeOutboxLabels = (): Promise<readonly string[]> =>
  database.pool.anyFirst(sql.type(OutboxRow)`
    WITH sent AS (DELETE FROM outbox RETURNING *)
    SELECT key || ':' || (value::jsonb ->> 'step') AS label FROM sent ORDER BY seq
  `);

/** Publishes pages until the republish ends. Returns the labels of everything sent. */
const publishRemainingPages = async (): Promise<string[]> => {
  const labels: string[] = [];
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const { isEnded } = await publishPage();
    labels.push(...(await takeOutboxLabels()));
    if (isEnded) return labels;
  }
  throw new Error("the republish does not end");
};

/** Updates rows in another transaction, which stays open until `commit` is called. */
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
    /** Publishes the new state and commits. */
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

describe("a republish (rule EVENT-5)", () => {
  test("publishes every resource once, page by page, and then stops", async () => {
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

  test("starts over when requested again, even while running, because a consumer may have lost events", async () => {
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

  test("resumes after the last complete page when a page fails", async () => {
    await requestTestRepublish();
    await publishPage();
    expect(await takeOutboxLabels()).toEqual(allLabels.slice(0, pageSize));
    const failingSource = {
      ...thingsSource,
      readEvents: () => Promise.reject(new Error("the process crashed")),
    };
    await expect(publishPage(failingSource)).rejects.toThrow("the process crashed");
    expect(await publishRemainingPages()).toEqual(allLabels.slice(pageSize));
  });

  test("ends immediately for an empty table", async () => {
    await database.admin.query("DELETE FROM things");
    await requestTestRepublish();
    expect(await publishPage()).toEqual({ isWritten: false, isEnded: true, publishedCount: 0 });
  });

  test("orders a numeric column numerically", async () => {
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

describe("a republish alongside live events", () => {
  test("waits while more than a few live events are unsent", async () => {
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

  test("never publishes a state after a newer one (rule EVENT-5)", async () => {
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

  // Without this, Postgres would have to break a deadlock, which delays live traffic by a second.
  test("never waits for a lock while it holds one", async () => {
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

describe("a republish with several replicas", () => {
  test("runs each page on one replica, and pauses all of them", async () => {
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

  test("continues on another replica whose clock is behind", async () => {
    await requestTestRepublish();
    await publishPage();
    await takeOutboxLabels();
    const earlierNow = new Date(clock.now().getTime() - 60_000);
    expect((await republishPage(database.pool, thingsSource, earlierNow)).isWritten).toBe(true);
  });

  test("runs on its own once woken, and wakes the relay after each page", async () => {
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
    await waitUntil("the republish has ended", async () => {
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
  waitUntil(
    "a transaction waits for a lock",
    async () => (await countLockWaits(database.pool)) === 1,
  );
