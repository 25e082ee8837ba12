import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { scannedLinksMax } from "../store/link-search.ts";
import { createRig } from "../testing/create-rig.ts";
import { insertLinkCopies, sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(createRig);
const path = "/console/api/payment-links";

const ReferenceRow = z.object({ reference: z.string() });

type LinkBody = { description?: string; expirationDate?: string; toAmount?: string };

/** Creates a signed-in person with these links, created one second apart, with the newest last. */
const createShop = async (bodies: readonly LinkBody[] = []) => {
  const account = sampleAccount();
  const headers = rig.createKeyHeaders(account);
  const ids: string[] = [];
  for (const body of bodies) {
    rig.clock.advance(1000);
    ids.push(await rig.createLink(headers, { toAmount: "5", ...body }));
  }
  const sessionHeaders = rig.createSessionHeaders(account);
  const search = async (query: Record<string, string>) =>
    rig.call(`${path}?${new URLSearchParams(query).toString()}`, { headers: sessionHeaders });
  const searchIds = async (query: Record<string, string>): Promise<string[]> =>
    (await search(query)).json.data.map(({ id }: { id: string }) => id);
  return { account, search, searchIds, headers, ids, session: sessionHeaders };
};

describe("a search among the console's links (rule CALLER-24)", () => {
  test("finds a link by its id or its payment reference, only for its owner", async () => {
    const { searchIds, ids } = await createShop([{}, {}]);
    const [firstLinkId = ""] = ids;
    const { reference } = await rig.pool.one(sql.type(ReferenceRow)`
      SELECT payment_reference AS reference FROM links WHERE id = ${firstLinkId}
    `);
    const otherShop = await createShop([{}]);
    for (const q of [
      firstLinkId,
      ` ${firstLinkId} `,
      `0x${reference}`,
      `0x${reference.toUpperCase()}`,
    ]) {
      expect(await searchIds({ q })).toEqual([firstLinkId]);
      expect(await searchIds({ q, status: "completed" })).toEqual([]);
      expect(await otherShop.searchIds({ q })).toEqual([]);
    }
    expect(await searchIds({ q: newId("plink") })).toEqual([]);
    expect(await searchIds({ q: `0x${"0".repeat(32)}` })).toEqual([]);
  });

  test.each([
    ["shoes", [0, 3]],
    ["SHOES", [0, 3]],
    ["größe", [1]],
    ["ΑΘΉΝΑ", [4]],
    ["50% off_", [2]],
    ["_", [2]],
    ["\\", [3]],
    [" of ", [0]],
    ["'", []],
  ])(
    "finds the text %j in descriptions regardless of case, without wildcards",
    async (q, expectedIndexes) => {
      const descriptions = ["Red Shoes of Ada", "GRÖSSE, Größe", "50% off_", "shoes \\", "Αθήνα"];
      const bodies: LinkBody[] = descriptions.map((description) => ({ description }));
      const { searchIds, ids } = await createShop([...bodies, {}]);
      const newestFirst = expectedIndexes.toReversed().map((index) => ids[index]);
      expect(await searchIds({ q })).toEqual(newestFirst);
    },
  );

  test("combines filters, with the current status and a creation time before `to`", async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + 60_000).toISOString();
    const teaFields = { description: "tea" };
    const shop = await createShop([
      teaFields,
      { ...teaFields, expirationDate },
      teaFields,
      {},
      teaFields,
    ]);
    const [firstLinkId = "", expiredId = "", thirdLinkId = "", fourthLinkId = "", lastLinkId = ""] =
      shop.ids;
    const accountWithOtherToken = {
      ...shop.account,
      version: 2,
      wallets: shop.account.wallets.map((wallet) => ({ ...wallet, tokenId: "usdc-ethereum" })),
    };
    await rig.settle(sampleSettlement(firstLinkId, { amount: "5" }));
    rig.clock.advance(60_000);
    const otherTokenLinkId = await rig.createLink(rig.createKeyHeaders(accountWithOtherToken), {
      toAmount: "1",
      ...teaFields,
    });
    const { searchIds } = shop;
    expect(await searchIds({ q: "tea" })).toEqual([
      otherTokenLinkId,
      lastLinkId,
      thirdLinkId,
      expiredId,
      firstLinkId,
    ]);
    expect(await searchIds({ q: "tea", status: "active" })).toEqual([
      otherTokenLinkId,
      lastLinkId,
      thirdLinkId,
    ]);
    expect(await searchIds({ q: "tea", status: "inactive" })).toEqual([expiredId]);
    expect(await searchIds({ q: "tea", status: "completed" })).toEqual([firstLinkId]);
    expect(await searchIds({ token: "usdc-ethereum" })).toEqual([otherTokenLinkId]);
    expect(await searchIds({ token: "usdc-base", q: "tea" })).toEqual([
      lastLinkId,
      thirdLinkId,
      expiredId,
      firstLinkId,
    ]);
    expect(await searchIds({ token: "no-such" })).toEqual([]);
    const [from, to] = await Promise.all(
      [thirdLinkId, lastLinkId].map(async (id) => (await rig.retrieve(id)).dateCreated as string),
    );
    expect(await searchIds({ from: from ?? "", to: to ?? "" })).toEqual([
      fourthLinkId,
      thirdLinkId,
    ]);
    expect(await searchIds({ from: from ?? "", to: to ?? "", q: "tea" })).toEqual([thirdLinkId]);
    expect(await searchIds({ from: to ?? "", to: from ?? "" })).toEqual([]);
    expect(await searchIds({ to: from ?? "", status: "inactive" })).toEqual([expiredId]);
    expect(await searchIds({ before: thirdLinkId })).toEqual([expiredId, firstLinkId]);
  });

  test("distinguishes expired from deactivated links, before and after the expiry is stored", async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + 60_000).toISOString();
    const shop = await createShop([{}, { expirationDate }, { expirationDate }, { expirationDate }]);
    const [activeId = "", deactivatedId = "", storedId = "", expiredId = ""] = shop.ids;
    await rig.call(`${path}/${deactivatedId}/deactivate`, {
      method: "POST",
      headers: shop.session,
    });
    rig.clock.advance(60_000);
    // The expiry job stores an expired link as inactive.
    await rig.pool.query(sqlVoid`UPDATE links SET status = 'inactive' WHERE id = ${storedId}`);
    const { searchIds } = shop;
    expect(await searchIds({ inactiveReason: "expired" })).toEqual([expiredId, storedId]);
    expect(await searchIds({ inactiveReason: "deactivated" })).toEqual([deactivatedId]);
    expect(await searchIds({ inactiveReason: "expired", status: "active" })).toEqual([]);
    const { json } = await shop.search({});
    const reasons = json.data.map((link: { id: string; inactiveReason: string | null }) => [
      link.id,
      link.inactiveReason,
    ]);
    expect(reasons).toEqual([
      [expiredId, "expired"],
      [storedId, "expired"],
      [deactivatedId, "deactivated"],
      [activeId, null],
    ]);
  });

  test("pages by `before` neither repeat nor skip links when links are created meanwhile", async () => {
    const shop = await createShop(Array.from({ length: 25 }, () => ({ description: "tea" })));
    for (const filter of [{}, { q: "tea" }] as Record<string, string>[]) {
      const seenIds: string[] = [];
      for (let beforeId: string | null = ""; beforeId !== null;) {
        const { json } = await shop.search({
          ...filter,
          ...(beforeId === "" ? {} : { before: beforeId }),
        });
        seenIds.push(...json.data.map(({ id }: { id: string }) => id));
        beforeId = json.nextBefore;
        await rig.createLink(shop.headers, { toAmount: "1", description: "tea" });
      }
      expect(seenIds.slice(-25)).toEqual(shop.ids.toReversed());
      expect(new Set(seenIds).size).toBe(seenIds.length);
    }
  });

  test("pages by offset contain only matching links, as in other lists", async () => {
    const shop = await createShop(
      Array.from({ length: 23 }, (_, index) => ({ description: index % 2 === 0 ? "tea" : "milk" })),
    );
    const firstPage = (await shop.search({ q: "tea" })).json;
    const secondPage = (await shop.search({ q: "tea", offset: "10" })).json;
    const expectedIds = shop.ids.filter((_id, index) => index % 2 === 0).toReversed();
    const listedIds = [...firstPage.data, ...secondPage.data].map(({ id }: { id: string }) => id);
    expect(listedIds).toEqual(expectedIds);
    expect([firstPage.nextOffset, firstPage.nextBefore]).toEqual([10, expectedIds[9]]);
    expect([secondPage.nextOffset, secondPage.nextBefore]).toEqual([null, null]);
  });

  test.each([
    [{ q: "" }, ["string_too_short"]],
    [{ q: "x".repeat(501) }, ["string_too_long"]],
    [{ q: "\0" }, ["string_pattern_mismatch"]],
    [{ token: "" }, ["string_too_short"]],
    [{ from: "yesterday", to: "2026-02-30" }, Array(2).fill("datetime_from_date_parsing")],
    [{ before: "plink_x" }, ["string_pattern_mismatch"]],
    [
      { status: "open", inactiveReason: "paid", offset: "-1" },
      ["enum", "enum", "greater_than_equal"],
    ],
  ])("given %j, returns 422 %j", async (query, codes) => {
    const { search } = await createShop();
    const response = await search(query);
    expect(response.status).toBe(422);
    expect(response.json.errors.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test("given an unknown link or another account's link in `before`, returns 404", async () => {
    const { search } = await createShop();
    const { ids } = await createShop([{}]);
    for (const beforeId of [newId("plink"), ids[0] ?? ""]) {
      expect((await search({ before: beforeId })).status).toBe(404);
    }
  });

  test("the public list supports none of the console's filters", async () => {
    const { headers, ids } = await createShop([{ description: "tea" }, {}]);
    const query = "q=tea&token=usdc-ethereum&from=2100-01-01&before=x";
    const { json } = await rig.call(`/v1/payment-link?${query}`, { headers });
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(Object.keys(json)).toEqual(["data", "limit", "offset", "nextOffset"]);
  });
});

describe("a search in a very large number of links (rule CALLER-24)", () => {
  let shop: Awaited<ReturnType<typeof createShop>>;
  beforeAll(async () => {
    shop = await createShop([{ description: "needle" }]);
    await insertLinkCopies(rig.pool, shop.ids[0] ?? "", {
      count: 2 * scannedLinksMax,
      description: "hay",
    });
  });

  test("scans 5,000 links, returns how far it got, and continues from there to the end", async () => {
    let beforeId: string | undefined;
    const pages: [number, boolean][] = [];
    for (let requestCount = 0; requestCount < 3; requestCount += 1) {
      const { json } = await shop.search({
        q: "needle",
        ...(beforeId === undefined ? {} : { before: beforeId }),
      });
      pages.push([json.data.length, json.nextBefore === null]);
      expect(json.nextOffset).toBeNull();
      beforeId = json.nextBefore ?? undefined;
    }
    expect(pages).toEqual([
      [0, false],
      [0, false],
      [1, true],
    ]);
  });
});
