import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Transaction } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { type RegisteredEndpoint, createRig } from "../testing/create-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { newId, pageSize } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { claimDeliveries, insertDeliveries, listWaitingEndpoints } from "./deliveries.ts";
import { recordResults } from "./ended-deliveries.ts";
import { findDelivery, listDeliveries, listLinkDeliveries } from "./logged-deliveries.ts";

const waitingCount = 100_000;
const share = 20;
const voidRow = sql.type(z.object({}).strict());

const rig = useRig(createRig);
let crowdedEndpoint: RegisteredEndpoint;
let quietEndpoints: RegisteredEndpoint[];
beforeAll(async () => {
  const person = rig.signIn();
  const register = () => rig.register(person, "https://shop.com/");
  crowdedEndpoint = await register();
  quietEndpoints = [await register(), await register()];
  // Simulates the statistics after a long idle time: autovacuum last saw an empty queue.
  await rig.pool.query(voidRow`ANALYZE deliveries`);
  await queueDeliveries(crowdedEndpoint, waitingCount);
  for (const endpoint of quietEndpoints) await queueDeliveries(endpoint, 1);
});

const queueDeliveries = (endpoint: RegisteredEndpoint, count: number) =>
  rig.pool.query(voidRow`
    INSERT INTO deliveries
      (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created, next_attempt_at)
    SELECT ${endpoint.id} || n, n, ${endpoint.id}, 'plink_x', 'payment_link.completed',
           ${sqlNow()}, ${sqlNow()}, ${sqlNow()}
    FROM generate_series(1, ${count}::int) AS n
  `);

const sqlNow = () => sql.timestamp(rig.clock.now());

const Reads = z.object({ rows: z.coerce.number(), entries: z.coerce.number() });

/** Counts the rows and index entries of `deliveries` that the transaction has read so far. */
const countReads = (tx: Transaction) =>
  tx.one(sql.type(Reads)`
    SELECT pg_stat_get_xact_tuples_returned('deliveries'::regclass)
             + pg_stat_get_xact_tuples_fetched('deliveries'::regclass) AS rows,
           (SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index
            WHERE indrelid = 'deliveries'::regclass) AS entries
  `);

/** Makes the transaction use generic plans, as a busy connection does. */
const forceGenericPlans = (tx: Transaction) =>
  tx.query(voidRow`SET LOCAL plan_cache_mode = force_generic_plan`);

/** Polls and claims like a dispatcher. Returns the claimed deliveries and what was read. */
const claimDue = (excluded: readonly RegisteredEndpoint[]) =>
  rig.pool.transaction(async (tx) => {
    const readsBefore = await countReads(tx);
    const waiting = await listWaitingEndpoints(tx, {
      limit: 100,
      excluded: { endpointIds: excluded.map(({ id }) => id), userIds: [], origins: [] },
    });
    const shares = waiting.map(({ endpointId }) => ({ endpointId, share }));
    const leaseUntil = new Date(rig.clock.now().getTime() + 30_000);
    const claimedDeliveries = await claimDeliveries(tx, {
      now: rig.clock.now(),
      leaseUntil,
      shares,
    });
    const readsAfter = await countReads(tx);
    return {
      claimedDeliveries,
      rows: readsAfter.rows - readsBefore.rows,
      entries: readsAfter.entries - readsBefore.entries,
    };
  });

describe("looking for work with 100000 deliveries waiting at one endpoint", () => {
  test.each([["from the empty table"], ["up to date"]])(
    "reads the claimed deliveries and one entry per endpoint, with statistics %s",
    async (statistics) => {
      if (statistics === "up to date") await rig.pool.query(voidRow`ANALYZE deliveries`);
      const { claimedDeliveries, rows, entries } = await claimDue([]);
      expect(claimedDeliveries.length).toBeGreaterThanOrEqual(share);
      // Each claimed row is found by its position in the queue, locked, and found again by its
      // `ctid`.
      expect(rows).toBeLessThanOrEqual(4 * claimedDeliveries.length + 20);
      expect(entries).toBeLessThanOrEqual(4 * claimedDeliveries.length + 20);
    },
  );

  test("reads no rows of that endpoint when it has no free slot", async () => {
    const [firstQuiet] = quietEndpoints;
    if (firstQuiet === undefined) throw new Error("no quiet endpoint is registered");
    await rig.pool.query(voidRow`
      UPDATE deliveries SET next_attempt_at = ${sqlNow()}, lease_until = NULL
      WHERE endpoint_id = ${firstQuiet.id}
    `);
    const { claimedDeliveries, rows } = await claimDue([crowdedEndpoint]);
    expect(claimedDeliveries.map(({ endpointId }) => endpointId)).toEqual([firstQuiet.id]);
    expect(rows).toBeLessThanOrEqual(20);
  });

  test("skips another process's claim and reads no more than its own share", async () => {
    await rig.pool.transaction(async (otherTx) => {
      const shares = [{ endpointId: crowdedEndpoint.id, share }];
      const leaseUntil = new Date(rig.clock.now().getTime() + 30_000);
      const otherClaims = await claimDeliveries(otherTx, {
        now: rig.clock.now(),
        leaseUntil,
        shares,
      });
      const { claimedDeliveries, rows } = await claimDue([]);
      const ids = new Set(otherClaims.map(({ id }) => id));
      expect(claimedDeliveries.filter(({ id }) => ids.has(id))).toEqual([]);
      expect(rows).toBeLessThanOrEqual(6 * share + 20);
    });
  });
});

test("recording results with 100000 deliveries of one endpoint reads only their rows with the generic plan", async () => {
  const count = 100;
  const results = Array.from({ length: count }, (_, index) => ({
    id: `${crowdedEndpoint.id}${index + 1}`,
    eventId: String(index + 1),
    endpointId: crowdedEndpoint.id,
    occurredAt: rig.clock.now(),
    attempts: 1,
    startedAt: rig.clock.now(),
    durationMs: 7,
    sentBody: "{}",
    isDelivered: index % 2 === 0,
    httpStatus: index % 2 === 0 ? 200 : 500,
    error: index % 2 === 0 ? null : "status 500",
    nextAttemptAt: index % 2 === 0 ? null : rig.clock.now(),
  }));
  await rig.pool.query(voidRow`
    UPDATE deliveries SET attempts = 1, next_attempt_at = NULL, lease_until = ${sqlNow()}
    WHERE endpoint_id = ${crowdedEndpoint.id} AND event_id = ANY (
      SELECT n::text FROM generate_series(1, ${count}::int) AS n
    )
  `);
  const { rows, entries } = await rig.pool.transaction(async (tx) => {
    await forceGenericPlans(tx);
    const readsBefore = await countReads(tx);
    await recordResults(tx, results);
    const readsAfter = await countReads(tx);
    return {
      rows: readsAfter.rows - readsBefore.rows,
      entries: readsAfter.entries - readsBefore.entries,
    };
  });
  // Each row is found by its key, locked, and found again by its `ctid`.
  expect(entries).toBeGreaterThanOrEqual(count);
  expect(rows + entries).toBeLessThanOrEqual(4 * count);
});

/** Counts the log rows that the transaction has read so far. */
const countLogReads = (tx: Transaction) =>
  tx.oneFirst(sql.type(z.object({ rows: z.coerce.number() }))`
    SELECT sum(pg_stat_get_xact_tuples_returned(inhrelid)
               + pg_stat_get_xact_tuples_fetched(inhrelid)) AS rows
    FROM pg_inherits WHERE inhparent = 'delivery_log'::regclass
  `);

describe("with the same number of deliveries in the day's log", () => {
  beforeAll(async () => {
    await rig.pool.query(voidRow`
      INSERT INTO delivery_log
        (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
         link_id)
      SELECT n, 'log' || n, ${crowdedEndpoint.id}, (${sqlNow()} AT TIME ZONE 'utc')::date,
             'payment_link.completed', ${sqlNow()}, 'Delivered', 1,
             CASE WHEN n IN (5, 60000) THEN 'few' ELSE 'many' END
      FROM generate_series(1, ${waitingCount}::int) AS n
    `);
  });

  test.each([
    ["with a custom plan", async () => {}],
    ["with the generic plan", forceGenericPlans],
  ])(
    "creating deliveries reads only the log rows that it looks up, %s",
    async (_, configurePlans) => {
      const newDeliveries = Array.from({ length: 100 }, (_, index) => {
        const eventId = index < 50 ? `log${index + waitingCount - 49}` : newId("evt");
        return sampleDelivery(crowdedEndpoint.id, rig.clock.now(), { eventId });
      });
      const { insertedIds, rows } = await rig.pool.transaction(async (tx) => {
        await configurePlans(tx);
        const insertedIds = await insertDeliveries(tx, newDeliveries);
        return { insertedIds, rows: await countLogReads(tx) };
      });
      expect(rows).toBeLessThanOrEqual(2 * newDeliveries.length);
      // The first fifty were already in the log.
      expect([...insertedIds].toSorted()).toEqual(
        newDeliveries
          .slice(50)
          .map(({ id }) => id)
          .toSorted(),
      );
    },
  );

  const countPageReads = (list: (tx: Transaction) => Promise<readonly unknown[]>) =>
    rig.pool.transaction(async (tx) => {
      const readsBefore = await countReads(tx);
      const { length } = await list(tx);
      const readsAfter = await countReads(tx);
      return { length, rows: readsAfter.rows - readsBefore.rows + (await countLogReads(tx)) };
    });

  test("a page of pending and ended deliveries reads only that page", async () => {
    const offset = 30;
    const { length, rows } = await countPageReads((tx) =>
      listDeliveries(tx, { endpointId: crowdedEndpoint.id, offset }),
    );
    expect(length).toBe(pageSize + 1);
    expect(rows).toBeLessThanOrEqual(3 * (offset + pageSize) + 10);
  });

  test.each([
    ["from the empty table", false],
    ["up to date", true],
  ])(
    "a filter for rare entries does not read the others, with statistics %s",
    async (_, shouldAnalyze) => {
      await rig.pool.query(voidRow`
      UPDATE delivery_log SET status = 'Failed' WHERE event_id IN ('log1', 'log50000')
    `);
      await rig.pool.query(voidRow`
      UPDATE delivery_log SET event_type = 'payment_link.transaction.succeeded'
      WHERE event_id = 'log70000'
    `);
      if (shouldAnalyze) await rig.pool.query(voidRow`ANALYZE delivery_log`);
      const rareFilters = [
        { status: "Failed" },
        { eventType: "payment_link.transaction.succeeded" },
        { status: "Pending", eventType: "payment_link.transaction.succeeded" },
        { status: "Delivered", eventType: "payment_link.transaction.succeeded" },
      ] as const;
      const lengths: number[] = [];
      for (const filters of rareFilters) {
        const pageQuery = { endpointId: crowdedEndpoint.id, ...filters, offset: 0 };
        const { length, rows } = await countPageReads((tx) => listDeliveries(tx, pageQuery));
        lengths.push(length);
        expect(rows).toBeLessThanOrEqual(30);
      }
      expect(lengths).toEqual([2, 1, 0, 1]);
    },
  );

  test("a page of one link's deliveries reads only that page, whether the link has few or many", async () => {
    const { id: endpointId } = crowdedEndpoint;
    const userId = await rig.pool.oneFirst(sql.type(z.object({ userId: z.string() }))`
      SELECT user_id AS "userId" FROM endpoints WHERE id = ${endpointId}
    `);
    for (const [linkId, count] of [
      ["few", 2],
      ["many", pageSize + 1],
    ] as const) {
      const { length, rows } = await countPageReads((tx) =>
        listLinkDeliveries(tx, { userId, mode: "live", linkId, offset: 0 }),
      );
      expect(length).toBe(count);
      expect(rows).toBeLessThanOrEqual(30);
    }
  });

  test("finding a delivery by its id does not read the others", async () => {
    const deliveryKey = { endpointId: crowdedEndpoint.id, id: "77777" };
    const { rows } = await countPageReads(async (tx) => [await findDelivery(tx, deliveryKey)]);
    expect(rows).toBeLessThanOrEqual(10);
  });
});
