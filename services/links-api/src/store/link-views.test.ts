import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type LinkStatus, linkStatuses } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type Plan,
  explainQueries,
  countScannedRows,
  listScans,
} from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import { insertLinkCopies, sampleAccount } from "../testing/samples.ts";
import { listLinks } from "./link-views.ts";
import { markExpiredLinks } from "./links.ts";

const EmptyRow = z.object({}).strict();

const linkCount = 20_000;

const rig = useRig(createRig);

/** The id of a copy, which ends with the copy's number. */
const numberedId = sql.fragment`id || '_' || number`;

let userId: string;
beforeAll(async () => {
  const account = sampleAccount();
  userId = account.id;
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
  await insertLinkCopies(rig.pool, id, {
    count: linkCount,
    id: numberedId,
    expiresAt: sql.fragment`CASE WHEN number % 4 = 0 THEN created_at + interval '1 day' END`,
  });
});

const AllVisibleRow = z.object({ isSeen: z.boolean() });

/**
 * Runs vacuum until every page of `links` is marked as all-visible. Vacuum skips a page if a recent
 * commit has not been flushed to disk, which happens because tests use asynchronous commits, or if
 * an older transaction is open. Other tests use the same server, so both can take a while.
 */
const vacuumUntilAllVisible = async (): Promise<void> => {
  await waitUntil("every page of links is all-visible", async () => {
    await rig.vacuumLinks();
    return rig.pool.oneFirst(sql.type(AllVisibleRow)`
      SELECT relallvisible >= (SELECT count(DISTINCT (ctid::text::point)[0]) FROM links) AS "isSeen"
      FROM pg_class WHERE oid = 'links_api.links'::regclass
    `);
  });
};

/** Returns the scans of `links` that a list executes. */
const listLinkScans = async (
  userId: string,
  status: LinkStatus | null,
  offset = 0,
): Promise<Plan[]> => {
  const pageQuery = {
    userId,
    mode: "live" as const,
    status,
    now: rig.clock.now(),
    offset,
    limit: 11,
  };
  const plans = await explainQueries(rig.pool, (db) => listLinks(db, pageQuery));
  return listScans(plans).filter((scan) => scan["Relation Name"] === "links");
};

/** Returns the number of rows that a scan read from the table itself. */
const countTableRows = (scan: Plan): number =>
  scan["Node Type"] === "Index Only Scan"
    ? (scan["Heap Fetches"] ?? 0)
    : scan["Actual Rows"] * scan["Actual Loops"];

/**
 * Active links need more rows: about 250 index entries are read to find out that many links have an
 * expiry in the future. Before the first `ANALYZE`, the planner expects only a few such links and
 * reads all 5,000.
 */
const rowsMax = (status: LinkStatus | null, state: string): number => {
  if (status !== "active") return 40;
  return state === "analyzed" ? 350 : 5_300;
};

// Guards the first page of an account with many links, both with and without planner statistics.
describe.each(["not analyzed", "analyzed"])("a page of 20,000 links, %s", (state) => {
  beforeAll(async () => {
    if (state === "analyzed") await rig.analyzeLinks();
  });

  test.each([null, ...linkStatuses])(
    "given the status %s, reads little more than it returns",
    async (status) => {
      const scans = await listLinkScans(userId, status);
      expect(scans.length).toBeGreaterThan(0);
      expect(scans.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
      expect(countScannedRows(scans)).toBeLessThanOrEqual(rowsMax(status, state));
    },
  );
});

// Guards the cache and the response times of other accounts, because a row is thirty times as large
// as its index entry.
describe("a deep page of 20,000 links", () => {
  let mixedUserId: string;
  beforeAll(async () => {
    const account = sampleAccount();
    mixedUserId = account.id;
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    await insertLinkCopies(rig.pool, id, {
      count: linkCount,
      id: numberedId,
      status: sql.fragment`(ARRAY['active', 'completed'])[1 + number % 2]`,
      createdAt: sql.fragment`created_at + number % 7000 * interval '1 ms'`,
    });
    await vacuumUntilAllVisible();
  });

  test.each([null, "active", "completed"] as const)(
    "given the status %s, reads no rows before the page, only the index",
    async (status) => {
      const scans = await listLinkScans(mixedUserId, status, 9_900);
      expect(scans.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
      const rows = scans.reduce((sum, scan) => sum + countTableRows(scan), 0);
      expect(rows).toBeLessThanOrEqual(40);
    },
  );

  test.each([null, ...linkStatuses])(
    "given the status %s, continues the pages before it",
    async (status) => {
      const filter = { userId: mixedUserId, mode: "live" as const, status, now: rig.clock.now() };
      const firstLinks = await listLinks(rig.pool, { ...filter, offset: 0, limit: 500 });
      for (const offset of [1, 10, 489]) {
        const page = await listLinks(rig.pool, { ...filter, offset, limit: 11 });
        expect(page).toEqual(firstLinks.slice(offset, offset + 11));
      }
    },
  );
});

// Guards an account whose links all expired at the same time. The expiry job leaves dead index
// entries, which remain until vacuum runs and must not slow down a page.
describe("a page of 20,000 expired links that were marked", () => {
  let expiredUserId: string;
  beforeAll(async () => {
    const account = sampleAccount();
    expiredUserId = account.id;
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    await insertLinkCopies(rig.pool, id, {
      count: linkCount,
      id: numberedId,
      expiresAt: sql.fragment`created_at - interval '1 hour'`,
    });
    const now = rig.clock.now();
    while ((await markExpiredLinks(rig.pool, { now, linksMax: 5_000 })).count > 0);
  });

  test.each([null, "active", "completed"] as const)(
    "given the status %s, reads few database pages",
    async (status) => {
      const scans = await listLinkScans(expiredUserId, status);
      const pages = scans.reduce((sum, scan) => sum + (scan["Shared Hit Blocks"] ?? 0), 0);
      expect(pages).toBeLessThanOrEqual(100);
    },
  );
});

// Guards an account whose links all expired at the same time, while the expiry job has not marked
// all of them.
test.each([0, 6_000])(
  "a page of 20,000 expired links with only the newest %i marked reads little more than it returns",
  async (markedCount) => {
    const { account, id } = await createExpiredLinks(linkCount);
    await rig.pool.query(sql.type(EmptyRow)`
      UPDATE links SET status = 'inactive' WHERE id IN (
        SELECT id FROM links WHERE user_id = ${account.id} ORDER BY created_at DESC LIMIT ${markedCount}
      )
    `);
    await rig.analyzeLinks();
    const scans = await listLinkScans(account.id, "inactive");
    expect(scans.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
    // Reading 51 entries is enough to know that there are many.
    expect(countScannedRows(scans)).toBeLessThanOrEqual(100);
    const pageQuery = {
      userId: account.id,
      mode: "live",
      status: "inactive",
      now: rig.clock.now(),
    } as const;
    const [firstLink] = await listLinks(rig.pool, { ...pageQuery, offset: 0, limit: 11 });
    expect(firstLink?.id).toBe(`${id}_${linkCount - 1}`);
  },
);

// Guards all three plans: a few links are sorted, many links are scanned, and they are sorted after
// all if too many other links are newer.
test.each([
  [20, 0],
  [21, 0],
  [50, 0],
  [51, 0],
  [52, 0],
  [400, 0],
  [400, 100],
  [400, 4_995],
  [400, 6_000],
])(
  "given %i expired links, some of them unmarked, and %i newer ones, lists the newest in order",
  async (count, newerCount) => {
    const { account, id } = await createExpiredLinks(count + 30);
    // Marks every tenth of the first 300 links.
    await rig.pool.query(sql.type(EmptyRow)`
      UPDATE links SET status = 'inactive'
      WHERE id IN (SELECT ${id} || '_' || 10 * number FROM generate_series(1, 30) AS number)
    `);
    await insertLinkCopies(rig.pool, id, {
      count: newerCount,
      id: sql.fragment`id || '_newer_' || number`,
      createdAt: sql.fragment`created_at + interval '1 hour'`,
      expiresAt: sql.fragment`NULL::timestamptz`,
    });
    const pageQuery = {
      userId: account.id,
      mode: "live",
      status: "inactive",
      now: rig.clock.now(),
    } as const;
    const links = await listLinks(rig.pool, { ...pageQuery, offset: 0, limit: 11 });
    const newestIds = Array.from({ length: 11 }, (_, index) => `${id}_${count + 29 - index}`);
    expect(links.map((link) => link.id)).toEqual(newestIds);
    const lastPage = await listLinks(rig.pool, { ...pageQuery, offset: count + 28, limit: 11 });
    expect(lastPage.map((link) => link.id)).toEqual([`${id}_1`, id]);
  },
);

/**
 * Creates an account with this number of expired links, with different expiries. The newest link
 * has the highest number.
 */
const createExpiredLinks = async (count: number) => {
  const account = sampleAccount();
  const id = await rig.createLink(rig.createKeyHeaders(account), {
    toAmount: "1",
    expirationDate: new Date(rig.clock.now().getTime() + 1_000).toISOString(),
  });
  await insertLinkCopies(rig.pool, id, {
    count: count - 1,
    id: numberedId,
    expiresAt: sql.fragment`expires_at - (number * 7919 % 1000) * interval '1 s'`,
  });
  rig.clock.advance(1_000);
  return { account, id };
};

// Guards both plans for active links with an expiry: a few are sorted, and many are scanned.
test.each([249, 250, 251, 400])(
  "given %i active links with an expiry, lists the newest in order",
  async (count) => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), {
      toAmount: "1",
      expirationDate: new Date(rig.clock.now().getTime() + 60_000).toISOString(),
    });
    await insertLinkCopies(rig.pool, id, {
      count: count - 1,
      id: numberedId,
      expiresAt: sql.fragment`expires_at + (number * 7919 % 1000) * interval '1 s'`,
    });
    const pageQuery = {
      userId: account.id,
      mode: "live",
      status: "active",
      now: rig.clock.now(),
    } as const;
    const links = await listLinks(rig.pool, { ...pageQuery, offset: 0, limit: 11 });
    const newestIds = Array.from({ length: 11 }, (_, index) => `${id}_${count - 1 - index}`);
    expect(links.map((link) => link.id)).toEqual(newestIds);
    const lastPage = await listLinks(rig.pool, { ...pageQuery, offset: count - 1, limit: 11 });
    expect(lastPage.map((link) => link.id)).toEqual([id]);
  },
);
