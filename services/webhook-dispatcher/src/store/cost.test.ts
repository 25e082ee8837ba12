import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Transaction, patiently, transact } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { type RegisteredEndpoint, openRig } from "../testing/open-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { newId, pageSize } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { claimDeliveries, insertDeliveries, listWaitingEndpoints } from "./deliveries.ts";
import { recordResults } from "./ended-deliveries.ts";
import { findDelivery, listDeliveries, listLinkDeliveries } from "./logged-deliveries.ts";

const waitingCount = 100_000;
const loggedAtOnce = 10_000;
const share = 20;
const nothing = sql.type(z.object({}).strict());

const rig = useRig(openRig);
let crowded: RegisteredEndpoint;
let quiet: RegisteredEndpoint[];
beforeAll(async () => {
  const person = rig.signIn();
  const register = () => rig.register(person, "https://shop.com/");
  crowded = await register();
  quiet = [await register(), await register()];
  // Statistics as they are after a long quiet time, when autovacuum last looked at an empty queue.
  await rig.pool.query(nothing`ANALYZE deliveries`);
  await queue(crowded, waitingCount);
  for (const endpoint of quiet) await queue(endpoint, 1);
});

/** On a busy machine many rows take longer than statements have otherwise. */
const queue = (endpoint: RegisteredEndpoint, count: number) =>
  transact(rig.pool, (tx) =>
    patiently(tx, ampleTimeoutMs, () =>
      tx.query(nothing`
        INSERT INTO deliveries
          (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created,
           next_attempt_at)
        SELECT ${endpoint.id} || n, n, ${endpoint.id}, 'plink_x', 'payment_link.completed',
               ${now()}, ${now()}, ${now()}
        FROM generate_series(1, ${count}::int) AS n
      `),
    ),
  );

const now = () => sql.timestamp(rig.clock.now());

const Reads = z.object({ rows: z.coerce.number(), entries: z.coerce.number() });

/**
 * What the transaction has read of `deliveries` so far: rows of the table, entries of its indexes.
 */
const countReads = (tx: Transaction) =>
  tx.one(sql.type(Reads)`
    SELECT pg_stat_get_xact_tuples_returned('deliveries'::regclass)
             + pg_stat_get_xact_tuples_fetched('deliveries'::regclass) AS rows,
           (SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index
            WHERE indrelid = 'deliveries'::regclass) AS entries
  `);

/** From here on the transaction has the plans that are kept, as a busy connection has. */
const keepPlans = (tx: Transaction) =>
  tx.query(nothing`SET LOCAL plan_cache_mode = force_generic_plan`);

/** Looks for work as a dispatcher does; answers what that read. */
const claimAll = (without: readonly RegisteredEndpoint[]) =>
  rig.pool.transaction(async (tx) => {
    const before = await countReads(tx);
    const waiting = await listWaitingEndpoints(tx, {
      limit: 100,
      without: { endpointIds: without.map(({ id }) => id), userIds: [], origins: [] },
    });
    const turns = waiting.map(({ endpointId }) => ({ endpointId, share }));
    const leaseUntil = new Date(rig.clock.now().getTime() + 30_000);
    const claimed = await claimDeliveries(tx, { now: rig.clock.now(), leaseUntil, turns });
    const after = await countReads(tx);
    return {
      claimed,
      rows: after.rows - before.rows,
      entries: after.entries - before.entries,
    };
  });

describe("with 100000 deliveries waiting at one endpoint, looking for work", () => {
  test.each([["as they were while it was empty"], ["as they are now"]])(
    "reads what it claims and one entry per endpoint, with statistics %s",
    async (which) => {
      if (which === "as they are now") await rig.pool.query(nothing`ANALYZE deliveries`);
      const { claimed, rows, entries } = await claimAll([]);
      expect(claimed.length).toBeGreaterThanOrEqual(share);
      // Each claimed row is found by its place in the queue, locked, and found again by its id.
      expect(rows).toBeLessThanOrEqual(4 * claimed.length + 20);
      expect(entries).toBeLessThanOrEqual(4 * claimed.length + 20);
    },
  );

  test("reads nothing of that endpoint's while it is full", async () => {
    const [first] = quiet;
    if (first === undefined) throw new Error("two quiet endpoints were registered");
    await rig.pool.query(nothing`
      UPDATE deliveries SET next_attempt_at = ${now()}, lease_until = NULL
      WHERE endpoint_id = ${first.id}
    `);
    const { claimed, rows } = await claimAll([crowded]);
    expect(claimed.map(({ endpointId }) => endpointId)).toEqual([first.id]);
    expect(rows).toBeLessThanOrEqual(20);
  });

  test("skips what another process is claiming, and reads no further than its own share", async () => {
    await rig.pool.transaction(async (other) => {
      const turns = [{ endpointId: crowded.id, share }];
      const leaseUntil = new Date(rig.clock.now().getTime() + 30_000);
      const theirs = await claimDeliveries(other, { now: rig.clock.now(), leaseUntil, turns });
      const { claimed, rows } = await claimAll([]);
      const ids = new Set(theirs.map(({ id }) => id));
      expect(claimed.filter(({ id }) => ids.has(id))).toEqual([]);
      expect(rows).toBeLessThanOrEqual(6 * share + 20);
    });
  });
});

test("with 100000 deliveries of one endpoint, ending attempts reads these by the plan that is kept", async () => {
  const count = 100;
  const results = Array.from({ length: count }, (_, at) => ({
    id: `${crowded.id}${at + 1}`,
    eventId: String(at + 1),
    endpointId: crowded.id,
    occurredAt: rig.clock.now(),
    attempts: 1,
    startedAt: rig.clock.now(),
    durationMs: 7,
    isDelivered: at % 2 === 0,
    httpStatus: at % 2 === 0 ? 200 : 500,
    error: at % 2 === 0 ? null : "status 500",
    nextAttemptAt: at % 2 === 0 ? null : rig.clock.now(),
  }));
  await rig.pool.query(nothing`
    UPDATE deliveries SET attempts = 1, next_attempt_at = NULL, lease_until = ${now()}
    WHERE endpoint_id = ${crowded.id} AND event_id = ANY (
      SELECT n::text FROM generate_series(1, ${count}::int) AS n
    )
  `);
  const { rows, entries } = await rig.pool.transaction(async (tx) => {
    await keepPlans(tx);
    const before = await countReads(tx);
    await recordResults(tx, results);
    const after = await countReads(tx);
    return { rows: after.rows - before.rows, entries: after.entries - before.entries };
  });
  // Each is found by its key, locked, and found again by its place.
  expect(entries).toBeGreaterThanOrEqual(count);
  expect(rows + entries).toBeLessThanOrEqual(4 * count);
});

/** Rows of the log that the transaction has read until now. */
const countLogReads = (tx: Transaction) =>
  tx.oneFirst(sql.type(z.object({ rows: z.coerce.number() }))`
    SELECT sum(pg_stat_get_xact_tuples_returned(inhrelid)
               + pg_stat_get_xact_tuples_fetched(inhrelid)) AS rows
    FROM pg_inherits WHERE inhparent = 'delivery_log'::regclass
  `);

describe("with as many deliveries of the day in the log", () => {
  beforeAll(async () => {
    // Bit by bit, as a statement has five seconds on a busy machine too.
    for (let first = 1; first <= waitingCount; first += loggedAtOnce) {
      await rig.pool.query(nothing`
        INSERT INTO delivery_log
          (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
           link_id)
        SELECT n, 'log' || n, ${crowded.id}, (${now()} AT TIME ZONE 'utc')::date,
               'payment_link.completed', ${now()}, 'Delivered', 1,
               CASE WHEN n IN (5, 60000) THEN 'few' ELSE 'many' END
        FROM generate_series(${first}::int, ${first + loggedAtOnce - 1}::int) AS n
      `);
    }
  });

  test.each([
    ["planned for them", async () => {}],
    ["by the plan that is kept", keepPlans],
  ])("opening more looks each of them up there, and reads no other, %s", async (_, plan) => {
    const opened = Array.from({ length: 100 }, (_, at) => {
      const eventId = at < 50 ? `log${at + waitingCount - 49}` : newId("evt");
      return sampleDelivery(crowded.id, rig.clock.now(), { eventId });
    });
    const { openedIds, rows } = await rig.pool.transaction(async (tx) => {
      await plan(tx);
      const openedIds = await insertDeliveries(tx, opened);
      return { openedIds, rows: await countLogReads(tx) };
    });
    expect(rows).toBeLessThanOrEqual(2 * opened.length);
    // The first fifty were in the log already.
    expect([...openedIds].toSorted()).toEqual(
      opened
        .slice(50)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  const readsOf = (list: (tx: Transaction) => Promise<readonly unknown[]>) =>
    rig.pool.transaction(async (tx) => {
      const before = await countReads(tx);
      const { length } = await list(tx);
      const after = await countReads(tx);
      return { length, rows: after.rows - before.rows + (await countLogReads(tx)) };
    });

  test("a page of both reads that page", async () => {
    const offset = 30;
    const { length, rows } = await readsOf((tx) =>
      listDeliveries(tx, { endpointId: crowded.id, offset }),
    );
    expect(length).toBe(pageSize + 1);
    expect(rows).toBeLessThanOrEqual(3 * (offset + pageSize) + 10);
  });

  test.each([
    ["as they were while it was empty", false],
    ["as they are now", true],
  ])("what is rare among them is found without the rest, with statistics %s", async (_, isAnew) => {
    await rig.pool.query(nothing`
      UPDATE delivery_log SET status = 'Failed' WHERE event_id IN ('log1', 'log50000')
    `);
    await rig.pool.query(nothing`
      UPDATE delivery_log SET event_type = 'payment_link.transaction.succeeded'
      WHERE event_id = 'log70000'
    `);
    if (isAnew) await rig.pool.query(nothing`ANALYZE delivery_log`);
    const rare = [
      { status: "Failed" },
      { eventType: "payment_link.transaction.succeeded" },
      { status: "Pending", eventType: "payment_link.transaction.succeeded" },
      { status: "Delivered", eventType: "payment_link.transaction.succeeded" },
    ] as const;
    const found: number[] = [];
    for (const filters of rare) {
      const wanted = { endpointId: crowded.id, ...filters, offset: 0 };
      const { length, rows } = await readsOf((tx) => listDeliveries(tx, wanted));
      found.push(length);
      expect(rows).toBeLessThanOrEqual(30);
    }
    expect(found).toEqual([2, 1, 0, 1]);
  });

  test("those of one link are found without the rest, and a page of a link's many is that page", async () => {
    const { id: endpointId } = crowded;
    const userId = await rig.pool.oneFirst(sql.type(z.object({ userId: z.string() }))`
      SELECT user_id AS "userId" FROM endpoints WHERE id = ${endpointId}
    `);
    for (const [linkId, count] of [
      ["few", 2],
      ["many", pageSize + 1],
    ] as const) {
      const { length, rows } = await readsOf((tx) =>
        listLinkDeliveries(tx, { userId, linkId, offset: 0 }),
      );
      expect(length).toBe(count);
      expect(rows).toBeLessThanOrEqual(30);
    }
  });

  test("one is found by its id without the rest", async () => {
    const wanted = { endpointId: crowded.id, id: "77777" };
    const { rows } = await readsOf(async (tx) => [await findDelivery(tx, wanted)]);
    expect(rows).toBeLessThanOrEqual(10);
  });
});
