import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explainQueries, countScannedRows, listScans } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import { insertLinkCopies, sampleAccount } from "../testing/samples.ts";
import { listLinks } from "./link-views.ts";
import { createListLinks } from "./list-links.ts";

const rig = useRig(createRig);

const account = sampleAccount();
const userId = account.id;
const linkCount = 16_000;
let templateLinkId: string;

/**
 * Copies the account's link `count` times. The copies were created `ageMs` ago, three in each
 * millisecond.
 */
const addLinks = (name: string, count: number, ageMs: number) =>
  insertLinkCopies(rig.pool, templateLinkId, {
    count,
    id: sql.fragment`id || ${name} || number`,
    createdAt: sql.fragment`
      ${sql.timestamp(new Date(rig.clock.now().getTime() - ageMs))}
        + number / 3 * interval '1 ms' + number % 2 * interval '1 us'`,
  });

const hourMs = 60 * 60_000;
const minuteMs = 60_000;

beforeAll(async () => {
  templateLinkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
  await addLinks("_old", linkCount, 24 * hourMs);
  await rig.analyzeLinks();
});

const createPageQuery = (offset: number, status: "active" | null = null) => ({
  userId,
  mode: "live" as const,
  status,
  now: rig.clock.now(),
  offset,
  limit: 11,
});

/** Expects that `list` returns the page at the offset. */
const expectPage = async (list: typeof listLinks, offset: number): Promise<void> => {
  const page = createPageQuery(offset);
  const foundLinks = await list(rig.pool, page);
  expect(foundLinks.map(({ id }) => id)).toEqual(
    (await listLinks(rig.pool, page)).map(({ id }) => id),
  );
};

describe("a deep page of a list", () => {
  test("is the page at its offset, in any order of requests", async () => {
    const list = createListLinks();
    const offsets = [
      10_000, 10_010, 10_020, 14_000, 14_010, 13_500, 10_000, 15_990, 16_000, 16_001, 16_010,
      20_000, 12_345,
    ];
    for (const offset of offsets) await expectPage(list, offset);
  });

  test("accounts for links created meanwhile, including ones stored late", async () => {
    const list = createListLinks();
    await expectPage(list, 12_000);
    await addLinks("_new", 7, 0);
    await expectPage(list, 12_000);
    // These links are stored now but have an earlier creation time, because their creation was slow
    // or a clock was behind.
    await addLinks("_late", 5, 4 * minuteMs);
    await expectPage(list, 12_000);
    await expectPage(list, 12_010);
    await addLinks("_many", 3_000, 0);
    await expectPage(list, 12_010);
    rig.clock.advance(2 * hourMs);
    await addLinks("_later", 2, 0);
    await expectPage(list, 12_020);
  });

  test("is correct if all links before it are new", async () => {
    const list = createListLinks();
    await addLinks("_burst", 11_000, minuteMs);
    await expectPage(list, 10_500);
    await addLinks("_after", 3, minuteMs);
    await expectPage(list, 10_500);
  });

  test("skips few links after one nearby page was read", async () => {
    const list = createListLinks();
    rig.clock.advance(hourMs);
    const countScanned = async (offset: number) =>
      countScannedRows(
        listScans(await explainQueries(rig.pool, (db) => list(db, createPageQuery(offset)))),
      );
    expect(await countScanned(14_000)).toBeGreaterThan(14_000);
    for (const offset of [14_000, 14_010, 14_900]) {
      expect(await countScanned(offset)).toBeLessThan(2_100);
    }
    const farRowCount = await countScanned(17_000);
    expect(farRowCount).toBeGreaterThan(2_000);
    expect(farRowCount).toBeLessThan(5_000);
    expect(await countScanned(17_010)).toBeLessThan(2_100);
    // For each page, the newer links are counted, so an anchor expires before there are too many of
    // them.
    rig.clock.advance(2 * hourMs);
    expect(await countScanned(17_010)).toBeGreaterThan(17_000);
  });

  test("beyond the end costs one scan of the list", async () => {
    const list = createListLinks();
    const topDownRowCount = countScannedRows(
      listScans(await explainQueries(rig.pool, (db) => listLinks(db, createPageQuery(100_000)))),
    );
    const scans = listScans(
      await explainQueries(rig.pool, (db) => list(db, createPageQuery(100_000))),
    );
    expect(countScannedRows(scans)).toBeLessThan(1.1 * topDownRowCount);
  });

  test("with a status is found from the start", async () => {
    const list = createListLinks();
    const page = createPageQuery(12_000, "active");
    await list(rig.pool, page);
    const repeatedPage = await list(rig.pool, page);
    expect(repeatedPage).toEqual(await listLinks(rig.pool, page));
  });
});
