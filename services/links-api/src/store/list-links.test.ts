import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explain, rowsLookedAt, scansOf } from "../testing/explain.ts";
import { openRig } from "../testing/open-rig.ts";
import { copyLink, sampleAccount } from "../testing/samples.ts";
import { listLinks } from "./link-views.ts";
import { createListLinks } from "./list-links.ts";

const rig = useRig(openRig);

const account = sampleAccount();
const userId = account.id;
const linkCount = 16_000;
let modelId: string;

/** Copies the account's link: so many of them, made `agoMs` before now, three in each millisecond. */
const addLinks = (name: string, count: number, agoMs: number) =>
  copyLink(rig.pool, modelId, {
    count,
    id: sql.fragment`id || ${name} || number`,
    createdAt: sql.fragment`
      ${sql.timestamp(new Date(rig.clock.now().getTime() - agoMs))}
        + number / 3 * interval '1 ms' + number % 2 * interval '1 us'`,
  });

const hourMs = 60 * 60_000;
const minuteMs = 60_000;

beforeAll(async () => {
  modelId = await rig.createLink(rig.giveKey(account), { toAmount: "1" });
  await addLinks("_old", linkCount, 24 * hourMs);
  await rig.analyzeLinks();
});

const pageAt = (offset: number, status: "active" | null = null) => ({
  userId,
  status,
  now: rig.clock.now(),
  offset,
  limit: 11,
});

/** The page that is found, which is to be the one that an offset names. */
const expectPage = async (list: typeof listLinks, offset: number): Promise<void> => {
  const page = pageAt(offset);
  const found = await list(rig.pool, page);
  expect(found.map(({ id }) => id)).toEqual((await listLinks(rig.pool, page)).map(({ id }) => id));
};

describe("a page far down a list", () => {
  test("is the one that its offset names, in whatever order pages are asked for", async () => {
    const list = createListLinks();
    const offsets = [
      10_000, 10_010, 10_020, 14_000, 14_010, 13_500, 10_000, 15_990, 16_000, 16_001, 16_010,
      20_000, 12_345,
    ];
    for (const offset of offsets) await expectPage(list, offset);
  });

  test("moves by the links that were made meanwhile, also by those that come late", async () => {
    const list = createListLinks();
    await expectPage(list, 12_000);
    await addLinks("_new", 7, 0);
    await expectPage(list, 12_000);
    // Stored now, but made before those: their creates took long, or a clock is late.
    await addLinks("_late", 5, 4 * minuteMs);
    await expectPage(list, 12_000);
    await expectPage(list, 12_010);
    await addLinks("_many", 3_000, 0);
    await expectPage(list, 12_010);
    rig.clock.advance(2 * hourMs);
    await addLinks("_later", 2, 0);
    await expectPage(list, 12_020);
  });

  test("is found at its offset where all before it was just made", async () => {
    const list = createListLinks();
    await addLinks("_burst", 11_000, minuteMs);
    await expectPage(list, 10_500);
    await addLinks("_after", 3, minuteMs);
    await expectPage(list, 10_500);
  });

  test("passes over few links, once one page there was read", async () => {
    const list = createListLinks();
    rig.clock.advance(hourMs);
    const lookedAt = async (offset: number) =>
      rowsLookedAt(scansOf(await explain(rig.pool, (db) => list(db, pageAt(offset)))));
    expect(await lookedAt(14_000)).toBeGreaterThan(14_000);
    for (const offset of [14_000, 14_010, 14_900]) {
      expect(await lookedAt(offset)).toBeLessThan(2_100);
    }
    const far = await lookedAt(17_000);
    expect(far).toBeGreaterThan(2_000);
    expect(far).toBeLessThan(5_000);
    expect(await lookedAt(17_010)).toBeLessThan(2_100);
    // What is counted for each page is not to grow for ever.
    rig.clock.advance(2 * hourMs);
    expect(await lookedAt(17_010)).toBeGreaterThan(17_000);
  });

  test("behind the end costs one look at the list", async () => {
    const list = createListLinks();
    const all = rowsLookedAt(
      scansOf(await explain(rig.pool, (db) => listLinks(db, pageAt(100_000)))),
    );
    const looked = scansOf(await explain(rig.pool, (db) => list(db, pageAt(100_000))));
    expect(rowsLookedAt(looked)).toBeLessThan(1.1 * all);
  });

  test("of one status is found from the top", async () => {
    const list = createListLinks();
    const page = pageAt(12_000, "active");
    await list(rig.pool, page);
    const again = await list(rig.pool, page);
    expect(again).toEqual(await listLinks(rig.pool, page));
  });
});
