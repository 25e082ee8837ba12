import { describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import { createDeterministicId, linkCompleted } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { respondWithStatus } from "../testing/start-receiver.ts";
import { sampleLink } from "../testing/samples.ts";
import { withEndpoint } from "../testing/with-endpoint.ts";
import { maintainDeliveryLog } from "./delivery-log.ts";

const dayMs = 24 * 3_600_000;
const voidRow = sql.type(z.object({}).strict());

const { receiver, rig, person, endpoint } = withEndpoint();

/** Publishes an event from this many days ago, optionally with a given id. Returns its id. */
const publishOld = (daysAgo: number, id?: string) => {
  const link = sampleLink({ userId: person.userId });
  const occurredAt = new Date(rig.clock.now().getTime() - daysAgo * dayMs);
  const event = createOutgoingEvent(linkCompleted, { key: link.id, occurredAt, data: { link } });
  return rig.publish(event, id === undefined ? {} : { id });
};

const listAllIds = async () => {
  const ids: string[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const path = `${endpoint.path}/deliveries?offset=${offset}`;
    const { json } = await rig.call(person, "GET", path);
    ids.push(...json.data.map(({ id }) => String(id)));
    offset = z.int().nullable().parse(json["nextOffset"]);
  }
  return ids;
};

const Counts = z.object({ ended: z.int(), leased: z.int() });
const countRows = () =>
  rig.pool.one(sql.type(Counts)`
    SELECT (SELECT count(*)::int FROM delivery_log) AS ended,
           (SELECT count(*)::int FROM deliveries WHERE lease_until IS NOT NULL) AS leased
  `);

const waitForEnded = (total: number) =>
  waitUntil(`${total} deliveries have ended`, async () => (await countRows()).ended === total);

/** Waits until the receiver has this many requests and every result is written. */
const waitForAttempts = (times: number) =>
  waitUntil(`${times} attempts have ended`, async () => {
    return receiver.received.length === times && (await countRows()).leased === 0;
  });

const listPartitions = async () => {
  const rows = await rig.pool.any(sql.type(z.object({ name: z.string() }))`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'delivery_log'::regclass AND relname ~ '\\d{8}$' ORDER BY relname
  `);
  return rows.map(({ name }) => name.slice("delivery_log_".length));
};

const maintainLog = (days: number, retentionDays = 30) =>
  maintainDeliveryLog(rig.pool, {
    now: new Date(rig.clock.now().getTime() + days * dayMs),
    retentionDays,
  });

describe("the delivery log", () => {
  test("lists pending and ended deliveries together, newest first, and an ended one keeps its place", async () => {
    receiver.respondWith(respondWithStatus(500));
    await rig.service.start();
    const deliveryIds: string[] = [];
    for (let index = 0; index < 23; index += 1) {
      rig.clock.advance(1 + (index % 3));
      deliveryIds.unshift(createDeterministicId("evt", [await publishOld(0), endpoint.id]));
    }
    await waitForAttempts(23);
    const idsBefore = await listAllIds();
    expect(idsBefore).toEqual(deliveryIds);
    receiver.respondWith((res) =>
      respondWithStatus(receiver.received.length % 2 === 0 ? 500 : 200)(res),
    );
    rig.clock.advance(31_000);
    await waitForAttempts(46);
    expect((await countRows()).ended).toBeGreaterThan(5);
    expect(await listAllIds()).toEqual(idsBefore);
    receiver.respondWith(respondWithStatus(200));
    rig.clock.advance(400_000);
    await waitForEnded(23);
    expect(await listAllIds()).toEqual(idsBefore);
  });

  test("drops each day when its retention is over, and not a day before (rule HOOK-16)", async () => {
    await rig.service.start();
    await publishOld(0);
    await waitForEnded(1);
    const [endedEntry] = await rig.readLog(person, endpoint);
    await maintainLog(30);
    expect(await rig.readLog(person, endpoint)).toEqual([endedEntry]);
    await maintainLog(31);
    expect(await rig.readLog(person, endpoint)).toEqual([]);
    expect(await listPartitions()).not.toContain("20261121");
  });

  test("retains pending deliveries of any age", async () => {
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "2592000" });
    await publishOld(40);
    await service.stop();
    await maintainLog(90);
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Pending" }]);
  });

  test("retains a late event by the creation time of its delivery if its day is already over", async () => {
    await rig.service.start();
    await publishOld(45);
    await waitForEnded(1);
    expect(await maintainLog(0)).toBe(false);
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Delivered" }]);
    await maintainLog(31);
    expect(await rig.readLog(person, endpoint)).toEqual([]);
  });

  test.each([[0], [3], [45]])("recognizes an event from %i days ago", async (daysAgo) => {
    await rig.service.start();
    const id = await publishOld(daysAgo);
    await waitForEnded(1);
    await publishOld(daysAgo, id);
    expect(await rig.readLog(person, endpoint)).toHaveLength(1);
  });

  test("is maintained by the running service with the configured retention", async () => {
    await rig.startAnother({ WEBHOOK_LOG_DAYS: "2" });
    await publishOld(0);
    await waitForEnded(1);
    await waitUntil("future partitions exist", async () => (await listPartitions()).length >= 9);
    rig.clock.advance(3 * dayMs);
    await waitUntil("the day is dropped", async () => {
      // The first run may finish only now, and the next one starts an hour later.
      rig.clock.advance(60 * 60_000);
      return !(await listPartitions()).includes("20261121");
    });
    expect(await rig.readLog(person, endpoint)).toEqual([]);
  });

  test("is maintained by a role that cannot drop tables itself", async () => {
    const drop = voidRow`DROP TABLE delivery_log_other`;
    await expect(rig.pool.query(drop)).rejects.toThrow(/must be owner/);
  });
});
