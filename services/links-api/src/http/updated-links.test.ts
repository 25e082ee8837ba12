import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { sqlVoid, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { expireLinks } from "../jobs/expire-links.ts";
import { listUpdatedLinks } from "../store/updated-links.ts";
import { createRig } from "../testing/create-rig.ts";
import { countScannedRows, explainQueries, listScans } from "../testing/explain-queries.ts";
import { insertLinkCopies, sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(createRig);
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type Headers = Record<string, string>;

const fetchUpdated = async (headers: Headers, updatedAfter: Date | string, query = "") => {
  const parameters = new URLSearchParams({ updatedAfter: new Date(updatedAfter).toISOString() });
  return (await rig.call(`/v1/payment-link?${parameters.toString()}${query}`, { headers })).json;
};

const listIds = (page: { data: { id: string }[] }): string[] => page.data.map(({ id }) => id);

/** Creates an account, with functions that change its links. Each change takes one second. */
const createShop = () => {
  const account = sampleAccount();
  const headers = rig.createKeyHeaders(account);
  return {
    account,
    headers,
    createLink: (body: object = {}): Promise<string> => {
      rig.clock.advance(1_000);
      return rig.createLink(headers, { toAmount: "5", ...body });
    },
    pay: async (id: string, amount = "5"): Promise<void> => {
      rig.clock.advance(1_000);
      await rig.settle(sampleSettlement(id, { amount, occurredAt: rig.clock.now() }));
    },
    deactivate: async (id: string): Promise<void> => {
      rig.clock.advance(1_000);
      const path = `/console/api/payment-links/${id}/deactivate`;
      const response = await rig.call(path, {
        method: "POST",
        headers: rig.createSessionHeaders(account),
      });
      expect(response.status).toBe(200);
    },
  };
};

const expiresIn = (ms: number) => ({
  expirationDate: new Date(rig.clock.now().getTime() + ms).toISOString(),
});

describe("GET /v1/payment-link?updatedAfter (rule API-44)", () => {
  test("lists each kind of change at or after the instant, the latest first, whether or not the expiry job has run", async () => {
    const shop = createShop();
    const untouched = await shop.createLink();
    await shop.createLink(expiresIn(minuteMs * 60));
    const [partlyPaid, completed, deactivated] = [
      await shop.createLink(),
      await shop.createLink(),
      await shop.createLink(),
    ];
    const expired = await shop.createLink(expiresIn(minuteMs));
    rig.clock.advance(10 * minuteMs);
    // The link expired before this instant, so it is not listed.
    const since = rig.clock.now();
    const expiringLater = await shop.createLink(expiresIn(8_000));
    const atInstant = new Date(rig.clock.now());
    await shop.pay(partlyPaid, "1");
    await shop.deactivate(deactivated);
    await shop.pay(completed);
    rig.clock.advance(5 * minuteMs);
    const changes = [expiringLater, completed, deactivated, partlyPaid];
    const expectChanges = async () => {
      const page = await fetchUpdated(shop.headers, since);
      expect(listIds(page)).toEqual(changes);
      expect(page.data.map(({ status }: { status: string }) => status)).toEqual([
        "inactive",
        "completed",
        "inactive",
        "active",
      ]);
      // The instant itself belongs to the list: the link was created then, and expired later.
      expect(listIds(await fetchUpdated(shop.headers, atInstant))).toEqual(changes);
      const statuses = { active: [partlyPaid], completed: [completed] };
      for (const [status, ids] of Object.entries({
        ...statuses,
        inactive: [expiringLater, deactivated],
      }))
        expect(listIds(await fetchUpdated(shop.headers, since, `&status=${status}`))).toEqual(ids);
    };
    await expectChanges();
    await expireLinks(rig.dependencies).run();
    await expectChanges();
    const everything = listIds(await fetchUpdated(shop.headers, "1970-01-01"));
    expect(everything.slice(0, 4)).toEqual(changes);
    expect(everything).toHaveLength(7);
    expect(everything).toEqual(expect.arrayContaining([untouched, expired]));
  });

  test("includes the instant itself, and the links of no other account", async () => {
    const shop = createShop();
    const id = await shop.createLink();
    await createShop().createLink();
    const createdAt = new Date((await rig.retrieve(id)).dateCreated);
    expect(listIds(await fetchUpdated(shop.headers, createdAt))).toEqual([id]);
    expect(listIds(await fetchUpdated(shop.headers, new Date(createdAt.getTime() + 1)))).toEqual(
      [],
    );
  });

  test("misses no link if links change while the pages are read and the next run starts at nextUpdatedAfter", async () => {
    const shop = createShop();
    const since = rig.clock.now();
    const ids: string[] = [];
    for (let count = 0; count < 35; count += 1) ids.push(await shop.createLink());
    const seenIds = new Set<string>();
    const firstPage = await fetchUpdated(shop.headers, since);
    let page = firstPage;
    const changedIds: string[] = [];
    for (let pageNumber = 1; ; pageNumber += 1) {
      for (const id of listIds(page)) seenIds.add(id);
      if (page.nextOffset === null) break;
      expect(page.nextUpdatedAfter === undefined).toBe(pageNumber > 1);
      // One link that was already read changes, and one that was not.
      for (const changedId of [ids[34 - pageNumber], ids[pageNumber]]) {
        await shop.pay(changedId ?? "", "1");
        changedIds.push(changedId ?? "");
      }
      page = await fetchUpdated(shop.headers, since, `&offset=${page.nextOffset}`);
    }
    const unchangedIds = ids.filter((id) => !changedIds.includes(id));
    expect([...seenIds]).toEqual(expect.arrayContaining(unchangedIds));
    const { nextUpdatedAfter } = firstPage;
    const nextRunIds = listIds(await fetchUpdated(shop.headers, nextUpdatedAfter));
    expect(nextRunIds).toEqual(expect.arrayContaining(changedIds));
  });

  test("finds a change whose transaction committed after a later change was read", async () => {
    const shop = createShop();
    const [slow, fast] = [await shop.createLink(), await shop.createLink()];
    // The payments are on different days (UTC), because one eighth of the payments of an account's
    // day wait for each other's transactions.
    const midnightInMs = dayMs - (rig.clock.now().getTime() % dayMs);
    rig.clock.advance(midnightInMs - minuteMs / 2);
    const since = rig.clock.now();
    let page = await fetchUpdated(shop.headers, since);
    await transact(rig.pool, async (tx) => {
      rig.clock.advance(1_000);
      await rig.settleInTransaction(tx, sampleSettlement(slow, { amount: "1" }));
      rig.clock.advance(minuteMs);
      await shop.pay(fast, "1");
      page = await fetchUpdated(shop.headers, since);
      expect(listIds(page)).toEqual([fast]);
    });
    expect(listIds(await fetchUpdated(shop.headers, page.nextUpdatedAfter))).toContain(slow);
  });

  test("orders the changes of a link by time even if a clock is behind", async () => {
    const shop = createShop();
    const [first, second] = [await shop.createLink(), await shop.createLink()];
    rig.clock.advance(minuteMs);
    await shop.pay(first, "1");
    const since = rig.clock.now();
    rig.clock.setBack(minuteMs / 2);
    await shop.pay(first, "1");
    rig.clock.advance(minuteMs);
    expect(listIds(await fetchUpdated(shop.headers, since))).toEqual([first]);
    expect(listIds(await fetchUpdated(shop.headers, "1970-01-01"))).toEqual([first, second]);
  });

  const InstantRow = z.object({ now: z.date() });
  const readDatabaseTime = () =>
    rig.pool.oneFirst(
      sql.type(InstantRow)`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
    );

  test("lists links that the previous release creates and changes during an upgrade", async () => {
    const shop = createShop();
    const id = await shop.createLink();
    const since = await readDatabaseTime();
    await insertLinkCopies(rig.pool, id, { count: 1, id: sql.fragment`id || '_copy'` });
    expect(listIds(await fetchUpdated(shop.headers, since))).toEqual([`${id}_copy`]);
    const laterSince = new Date((await readDatabaseTime()).getTime() + 1);
    for (;;) if ((await readDatabaseTime()) >= laterSince) break;
    await rig.pool.query(sqlVoid`
      UPDATE links SET version = version + 1, received_amount = 1 WHERE id = ${id}
    `);
    expect(listIds(await fetchUpdated(shop.headers, laterSince))).toEqual([id]);
  });

  test.each([
    ["x", ["datetime_from_date_parsing"]],
    ["", ["datetime_from_date_parsing"]],
    ["2026-11-21&updatedAfter=2026-11-22", ["datetime_type"]],
    ["x&status=x&offset=x", ["enum", "datetime_from_date_parsing", "int_parsing"]],
  ])("given %s, returns 422 %j", async (query, codes) => {
    const response = await rig.call(`/v1/payment-link?updatedAfter=${query}`, {
      headers: rig.createKeyHeaders(sampleAccount()),
    });
    expect(response.status).toBe(422);
    expect(response.json.errors.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test("answers a later page and a list without the parameter without nextUpdatedAfter", async () => {
    const shop = createShop();
    await shop.createLink();
    const keys = ["data", "limit", "offset", "nextOffset"];
    const laterPage = await fetchUpdated(shop.headers, "1970-01-01", "&offset=10");
    expect(Object.keys(laterPage)).toEqual(keys);
    const { json: list } = await rig.call("/v1/payment-link", { headers: shop.headers });
    expect(Object.keys(list)).toEqual(keys);
    const { nextUpdatedAfter } = await fetchUpdated(shop.headers, "1970-01-01");
    expect(new Date(nextUpdatedAfter).getTime()).toBe(rig.clock.now().getTime() - 5 * minuteMs);
  });
});

describe.each(["not analyzed", "analyzed"])("50 changed links among 20,000, %s", (state) => {
  test("are found without reading the others", async () => {
    const shop = createShop();
    const id = await shop.createLink(expiresIn(minuteMs));
    await insertLinkCopies(rig.pool, id, {
      count: 20_000,
      id: sql.fragment`id || '_' || number`,
      expiresAt: sql.fragment`CASE WHEN number % 2 = 0 THEN created_at + interval '1 year' END`,
    });
    await rig.pool.query(sqlVoid`
      UPDATE links SET updated_at = created_at WHERE user_id = ${shop.account.id}
    `);
    rig.clock.advance(minuteMs * 60);
    const updatedAfter = rig.clock.now();
    rig.clock.advance(1_000);
    await rig.pool.query(sqlVoid`
      UPDATE links SET updated_at = ${rig.clock.now().toISOString()}
      WHERE user_id = ${shop.account.id} AND id IN (
        SELECT ${id} || '_' || 400 * number FROM generate_series(1, 50) AS number
      )
    `);
    if (state === "analyzed") await rig.analyzeLinks();
    const now = rig.clock.now();
    for (const offset of [0, 40]) {
      const { account } = shop;
      const filter = { userId: account.id, mode: "live", status: null, now, limit: 11 } as const;
      const plans = await explainQueries(rig.pool, async (db) => {
        const links = await listUpdatedLinks(db, { ...filter, offset, updatedAfter });
        expect(links).toHaveLength(Math.min(11, 50 - offset));
      });
      const scans = listScans(plans);
      expect(scans.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
      expect(countScannedRows(scans)).toBeLessThanOrEqual(150);
    }
  });
});
