import { describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { type Transaction, sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import * as z from "zod";
import { createRig } from "../testing/create-rig.ts";
import { sampleDelivery, sampleLink } from "../testing/samples.ts";
import { insertDeliveries } from "./deliveries.ts";
import { maintainDeliveryLog } from "./delivery-log.ts";
import { recordResults } from "./ended-deliveries.ts";
import { recordLinks } from "./links.ts";

const rig = useRig(createRig);

/** Postgres plans this many calls individually before it chooses a generic plan. */
const customPlanAttempts = 5;
const lifecycleRuns = 12;

const Plans = z.object({ name: z.string(), custom: z.coerce.number() });

/**
 * Returns how often each prepared statement of this connection has got a plan for a single call.
 */
const listPlans = (tx: Transaction) =>
  tx.any(sql.type(Plans)`
    SELECT name, custom_plans AS custom FROM pg_prepared_statements ORDER BY name
  `);

/** Counts the scans of log partitions in this transaction so far. */
const countLogScans = (tx: Transaction) =>
  tx.oneFirst(sql.type(z.object({ scans: z.coerce.number() }))`
    SELECT sum(pg_stat_get_xact_numscans(indexrelid) + pg_stat_get_xact_numscans(inhrelid)) AS scans
    FROM pg_inherits JOIN pg_index ON indrelid = inhrelid
    WHERE inhparent = 'delivery_log'::regclass
  `);

/**
 * Runs every statement of a delivery's lifecycle for this many events of two days. Returns the
 * number of log scans.
 */
const runLifecycle = async (
  tx: Transaction,
  eventCount: number,
  endpointId: string = newId("whe"),
): Promise<number> => {
  const now = rig.clock.now();
  const yesterday = new Date(now.getTime() - 24 * 60 * 60_000);
  const attemptFields = { endpointId, occurredAt: now, attempts: 1 };
  const links = Array.from({ length: eventCount }, () => ({
    ...sampleLink({ userId: newId("user"), toAmount: new Decimal(7) }),
  }));
  await recordLinks(
    tx,
    links.map((link) => ({ link, publishedAt: now, versionsRestartedAt: null })),
  );
  const leaseUntil = new Date(now.getTime() + 30_000);
  const deliveries = links.map(({ id: linkId }) =>
    sampleDelivery(endpointId, now, { earliestPublishedAt: yesterday, linkId, leaseUntil }),
  );
  const scansBefore = await countLogScans(tx);
  await insertDeliveries(tx, deliveries);
  const scans = (await countLogScans(tx)) - scansBefore;
  const results = deliveries.map(({ id, eventId }, index) => ({
    ...attemptFields,
    id,
    eventId,
    startedAt: now,
    durationMs: 7,
    sentBody: "{}",
    isDelivered: index > 0,
    httpStatus: index > 0 ? 200 : 500,
    error: index > 0 ? null : "status 500",
    nextAttemptAt: index > 0 ? null : now,
  }));
  await recordResults(tx, results);
  return scans;
};

/** Inserts this many waiting and this many ended deliveries of one endpoint with SQL. */
const insertDeliveriesBySql = async (
  tx: Transaction,
  endpointId: string,
  count: number,
): Promise<void> => {
  const now = sql.timestamp(rig.clock.now());
  await tx.query(sqlVoid`
    INSERT INTO deliveries
      (id, event_id, endpoint_id, link_id, event_type, occurred_at, date_created, next_attempt_at)
    SELECT n, n, ${endpointId}, 'plink_x', 'payment_link.completed', ${now}, ${now}, ${now}
    FROM generate_series(1, ${count}::int) AS n
  `);
  await tx.query(sqlVoid`
    INSERT INTO delivery_log
      (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts)
    SELECT -n, -n, ${endpointId}, (${now} AT TIME ZONE 'utc')::date, 'payment_link.completed', ${now},
      'Delivered', 1
    FROM generate_series(1, ${count}::int) AS n
  `);
};

/** Counts the rows and index entries of the queue and the log that this transaction has read. */
const countReads = (tx: Transaction) =>
  tx.oneFirst(sql.type(z.object({ reads: z.coerce.number() }))`
    SELECT sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)) AS reads
    FROM pg_class WHERE relkind IN ('r', 'i') AND relname ~ '^deliver'
  `);

describe("the statements of a delivery's lifecycle", () => {
  test("use one cached plan for any number of events, and scan only the log partitions of those days", async () => {
    await maintainDeliveryLog(rig.pool, { now: rig.clock.now(), retentionDays: 30 });
    const { plans, scans } = await rig.pool.transaction(async (tx) => {
      const scans: number[] = [];
      for (let eventCount = 1; eventCount <= lifecycleRuns; eventCount += 1)
        scans.push(await runLifecycle(tx, eventCount));
      return { plans: await listPlans(tx), scans };
    });
    expect(plans).toEqual(
      ["end_deliveries", "insert_deliveries", "postpone_deliveries", "record_links"].map(
        (name) => ({
          name,
          custom: customPlanAttempts,
        }),
      ),
    );
    expect(scans).toEqual(scans.map((_, index) => 2 * (index + 1)));
  });

  test("read few rows even after an endpoint has thousands of waiting and ended deliveries", async () => {
    await maintainDeliveryLog(rig.pool, { now: rig.clock.now(), retentionDays: 30 });
    const endpointId = newId("whe");
    const [readsWithFew, readsWithMany] = await rig.pool.transaction(async (tx) => {
      for (let eventCount = 1; eventCount <= lifecycleRuns; eventCount += 1)
        await runLifecycle(tx, eventCount, endpointId);
      const countReadsOfTen = async () => {
        const readsBefore = await countReads(tx);
        await runLifecycle(tx, 10, endpointId);
        return (await countReads(tx)) - readsBefore;
      };
      const readsWithFew = await countReadsOfTen();
      await insertDeliveriesBySql(tx, endpointId, 3_000);
      return [readsWithFew, await countReadsOfTen()];
    });
    expect(readsWithMany).toBeLessThanOrEqual(2 * readsWithFew);
  });
});
