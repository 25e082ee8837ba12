import { describe, expect, test } from "@jest/globals";
import { outgoing } from "@payment-links/bus";
import { idOfNames, linkCompleted } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { answer } from "../testing/open-receiver.ts";
import { sampleLink } from "../testing/samples.ts";
import { withEndpoint } from "../testing/with-endpoint.ts";
import { keepDeliveryLog } from "./delivery-log.ts";

const dayMs = 24 * 3_600_000;
const nothing = sql.type(z.object({}).strict());

const { receiver, rig, person, endpoint } = withEndpoint();

/** Tells of an event of that many days ago, again and again with the same id; answers that. */
const tellOf = (daysAgo: number, id?: string) => {
  const link = sampleLink({ userId: person.userId });
  const occurredAt = new Date(rig.clock.now().getTime() - daysAgo * dayMs);
  const event = outgoing(linkCompleted, { key: link.id, occurredAt, data: { link } });
  return rig.tell(event, id === undefined ? {} : { id });
};

const pages = async () => {
  const found: string[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const path = `${endpoint.path}/deliveries?offset=${offset}`;
    const { json } = await rig.call(person, "GET", path);
    found.push(...json.data.map(({ id }) => String(id)));
    offset = z.int().nullable().parse(json["nextOffset"]);
  }
  return found;
};

const Counts = z.object({ ended: z.int(), leased: z.int() });
const count = () =>
  rig.pool.one(sql.type(Counts)`
    SELECT (SELECT count(*)::int FROM delivery_log) AS ended,
           (SELECT count(*)::int FROM deliveries WHERE lease_until IS NOT NULL) AS leased
  `);

const settled = (total: number) =>
  waitUntil(`${total} have ended`, async () => (await count()).ended === total);

/** Ends once the receiver has been asked so often and every answer is written. */
const answered = (times: number) =>
  waitUntil(`${times} attempts are over`, async () => {
    return receiver.received.length === times && (await count()).leased === 0;
  });

const partitions = async () => {
  const rows = await rig.pool.any(sql.type(z.object({ name: z.string() }))`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'delivery_log'::regclass AND relname ~ '\\d{8}$' ORDER BY relname
  `);
  return rows.map(({ name }) => name.slice("delivery_log_".length));
};

const keep = (days: number, keptDays = 30) =>
  keepDeliveryLog(rig.pool, { now: new Date(rig.clock.now().getTime() + days * dayMs), keptDays });

describe("the delivery log", () => {
  test("pages over what is pending and what is over, newest first, and a delivery that ends stays put", async () => {
    receiver.respondWith(answer(500));
    await rig.service.start();
    const told: string[] = [];
    for (let index = 0; index < 23; index += 1) {
      rig.clock.advance(1 + (index % 3));
      told.unshift(idOfNames("evt", [await tellOf(0), endpoint.id]));
    }
    await answered(23);
    const before = await pages();
    expect(before).toEqual(told);
    receiver.respondWith((res) => answer(receiver.received.length % 2 === 0 ? 500 : 200)(res));
    rig.clock.advance(31_000);
    await answered(46);
    expect((await count()).ended).toBeGreaterThan(5);
    expect(await pages()).toEqual(before);
    receiver.respondWith(answer(200));
    rig.clock.advance(400_000);
    await settled(23);
    expect(await pages()).toEqual(before);
  });

  test("is dropped by the day once it is older than what is kept, and not a day before (rule HOOK-16)", async () => {
    await rig.service.start();
    await tellOf(0);
    await settled(1);
    const [ended] = await rig.readLog(person, endpoint);
    await keep(30);
    expect(await rig.readLog(person, endpoint)).toEqual([ended]);
    await keep(31);
    expect(await rig.readLog(person, endpoint)).toEqual([]);
    expect(await partitions()).not.toContain("20261121");
  });

  test("keeps what is pending, however old", async () => {
    const { service } = await rig.startAnother({ WEBHOOK_RETRY_SCHEDULE_SECONDS: "2592000" });
    await tellOf(40);
    await service.stop();
    await keep(90);
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Pending" }]);
  });

  test("keeps an event heard of too late for its day by when its delivery was opened", async () => {
    await rig.service.start();
    await tellOf(45);
    await settled(1);
    expect(await keep(0)).toBe(false);
    expect(await rig.readLog(person, endpoint)).toMatchObject([{ status: "Delivered" }]);
    await keep(31);
    expect(await rig.readLog(person, endpoint)).toEqual([]);
  });

  test.each([[0], [3], [45]])("knows an event of %i days ago again", async (daysAgo) => {
    await rig.service.start();
    const id = await tellOf(daysAgo);
    await settled(1);
    await tellOf(daysAgo, id);
    expect(await rig.readLog(person, endpoint)).toHaveLength(1);
  });

  test("is kept by the started service itself, for as long as is configured", async () => {
    await rig.startAnother({ WEBHOOK_LOG_DAYS: "2" });
    await tellOf(0);
    await settled(1);
    await waitUntil("partitions are made ahead", async () => (await partitions()).length >= 9);
    rig.clock.advance(3 * dayMs);
    await waitUntil("the day is dropped", async () => {
      // The first run may end only now, and the next one comes an hour later.
      rig.clock.advance(60 * 60_000);
      return !(await partitions()).includes("20261121");
    });
    expect(await rig.readLog(person, endpoint)).toEqual([]);
  });

  test("is kept by a role that may not drop a table itself", async () => {
    const drop = nothing`DROP TABLE delivery_log_other`;
    await expect(rig.pool.query(drop)).rejects.toThrow(/must be owner/);
  });
});
