import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lookedAtMax } from "../store/link-search.ts";
import { openRig } from "../testing/open-rig.ts";
import { copyLink, sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(openRig);
const path = "/console/api/payment-links";

const ReferenceRow = z.object({ reference: z.string() });

type Order = { description?: string; expirationDate?: string; toAmount?: string };

/** A signed-in person with the links of these orders, a second apart, the newest last. */
const openShop = async (orders: readonly Order[] = []) => {
  const account = sampleAccount();
  const headers = rig.giveKey(account);
  const ids: string[] = [];
  for (const order of orders) {
    rig.clock.advance(1000);
    ids.push(await rig.createLink(headers, { toAmount: "5", ...order }));
  }
  const session = rig.giveSession(account);
  const ask = async (query: Record<string, string>) =>
    rig.call(`${path}?${new URLSearchParams(query).toString()}`, { headers: session });
  const find = async (query: Record<string, string>): Promise<string[]> =>
    (await ask(query)).json.data.map(({ id }: { id: string }) => id);
  return { account, ask, find, headers, ids, session };
};

describe("a search among the console's links (rule CALLER-24)", () => {
  test("finds a link by its id or its payment reference, of its owner alone", async () => {
    const { find, ids } = await openShop([{}, {}]);
    const [first = ""] = ids;
    const { reference } = await rig.pool.one(sql.type(ReferenceRow)`
      SELECT payment_reference AS reference FROM links WHERE id = ${first}
    `);
    const stranger = await openShop([{}]);
    for (const q of [first, ` ${first} `, `0x${reference}`, `0x${reference.toUpperCase()}`]) {
      expect(await find({ q })).toEqual([first]);
      expect(await find({ q, status: "completed" })).toEqual([]);
      expect(await stranger.find({ q })).toEqual([]);
    }
    expect(await find({ q: newId("plink") })).toEqual([]);
    expect(await find({ q: `0x${"0".repeat(32)}` })).toEqual([]);
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
    "finds the text %j in descriptions, whatever the case, and takes no sign for another",
    async (q, found) => {
      const descriptions = ["Red Shoes of Ada", "GRÖSSE, Größe", "50% off_", "shoes \\", "Αθήνα"];
      const orders: Order[] = descriptions.map((description) => ({ description }));
      const { find, ids } = await openShop([...orders, {}]);
      const newestFirst = found.toReversed().map((index) => ids[index]);
      expect(await find({ q })).toEqual(newestFirst);
    },
  );

  test("filters combine, by the status of this moment and the time of creation, which ends before `to`", async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + 60_000).toISOString();
    const tea = { description: "tea" };
    const shop = await openShop([tea, { ...tea, expirationDate }, tea, {}, tea]);
    const [first = "", expired = "", third = "", fourth = "", last = ""] = shop.ids;
    const inAnother = {
      ...shop.account,
      version: 2,
      wallets: shop.account.wallets.map((wallet) => ({ ...wallet, tokenId: "usdc-ethereum" })),
    };
    await rig.settle(sampleSettlement(first, { amount: "5" }));
    rig.clock.advance(60_000);
    const other = await rig.createLink(rig.giveKey(inAnother), { toAmount: "1", ...tea });
    const { find } = shop;
    expect(await find({ q: "tea" })).toEqual([other, last, third, expired, first]);
    expect(await find({ q: "tea", status: "active" })).toEqual([other, last, third]);
    expect(await find({ q: "tea", status: "inactive" })).toEqual([expired]);
    expect(await find({ q: "tea", status: "completed" })).toEqual([first]);
    expect(await find({ token: "usdc-ethereum" })).toEqual([other]);
    expect(await find({ token: "usdc-base", q: "tea" })).toEqual([last, third, expired, first]);
    expect(await find({ token: "no-such" })).toEqual([]);
    const [from, to] = await Promise.all(
      [third, last].map(async (id) => (await rig.retrieve(id)).dateCreated as string),
    );
    expect(await find({ from: from ?? "", to: to ?? "" })).toEqual([fourth, third]);
    expect(await find({ from: from ?? "", to: to ?? "", q: "tea" })).toEqual([third]);
    expect(await find({ from: to ?? "", to: from ?? "" })).toEqual([]);
    expect(await find({ to: from ?? "", status: "inactive" })).toEqual([expired]);
    expect(await find({ before: third })).toEqual([expired, first]);
  });

  test("pages by `before` are stable: what is made meanwhile neither repeats a link nor hides one", async () => {
    const shop = await openShop(Array.from({ length: 25 }, () => ({ description: "tea" })));
    for (const filter of [{}, { q: "tea" }] as Record<string, string>[]) {
      const seen: string[] = [];
      for (let before: string | null = ""; before !== null;) {
        const { json } = await shop.ask({ ...filter, ...(before === "" ? {} : { before }) });
        seen.push(...json.data.map(({ id }: { id: string }) => id));
        before = json.nextBefore;
        await rig.createLink(shop.headers, { toAmount: "1", description: "tea" });
      }
      expect(seen.slice(-25)).toEqual(shop.ids.toReversed());
      expect(new Set(seen).size).toBe(seen.length);
    }
  });

  test("pages by offset count what was found, as everywhere", async () => {
    const shop = await openShop(
      Array.from({ length: 23 }, (_, index) => ({ description: index % 2 === 0 ? "tea" : "milk" })),
    );
    const first = (await shop.ask({ q: "tea" })).json;
    const second = (await shop.ask({ q: "tea", offset: "10" })).json;
    const wanted = shop.ids.filter((_id, index) => index % 2 === 0).toReversed();
    const shown = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect(shown).toEqual(wanted);
    expect([first.nextOffset, first.nextBefore]).toEqual([10, wanted[9]]);
    expect([second.nextOffset, second.nextBefore]).toEqual([null, null]);
  });

  test.each([
    [{ q: "" }, ["string_too_short"]],
    [{ q: "x".repeat(501) }, ["string_too_long"]],
    [{ q: "\0" }, ["string_pattern_mismatch"]],
    [{ token: "" }, ["string_too_short"]],
    [{ from: "yesterday", to: "2026-02-30" }, Array(2).fill("datetime_from_date_parsing")],
    [{ before: "plink_x" }, ["string_pattern_mismatch"]],
    [{ status: "open", offset: "-1" }, ["enum", "greater_than_equal"]],
  ])("given %j, answers 422 %j", async (query, codes) => {
    const { ask } = await openShop();
    const answer = await ask(query);
    expect(answer.status).toBe(422);
    expect(answer.json.errors.map(({ code }: { code: string }) => code)).toEqual(codes);
  });

  test("before a link that is nobody's or another's, answers 404", async () => {
    const { ask } = await openShop();
    const { ids } = await openShop([{}]);
    for (const before of [newId("plink"), ids[0] ?? ""]) {
      expect((await ask({ before })).status).toBe(404);
    }
  });

  test("the public list knows none of the console's filters", async () => {
    const { headers, ids } = await openShop([{ description: "tea" }, {}]);
    const query = "q=tea&token=usdc-ethereum&from=2100-01-01&before=x";
    const { json } = await rig.call(`/v1/payment-link?${query}`, { headers });
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(Object.keys(json)).toEqual(["data", "limit", "offset", "nextOffset"]);
  });
});

describe("a search among very many links (rule CALLER-24)", () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop([{ description: "needle" }]);
    await copyLink(rig.pool, shop.ids[0] ?? "", { count: 2 * lookedAtMax, description: "hay" });
  });

  test("looks at 5,000 of them, says how far it came, and goes on there until the end", async () => {
    let before: string | undefined;
    const pages: [number, boolean][] = [];
    for (let asked = 0; asked < 3; asked += 1) {
      const { json } = await shop.ask({ q: "needle", ...(before === undefined ? {} : { before }) });
      pages.push([json.data.length, json.nextBefore === null]);
      expect(json.nextOffset).toBeNull();
      before = json.nextBefore ?? undefined;
    }
    expect(pages).toEqual([
      [0, false],
      [0, false],
      [1, true],
    ]);
  });
});
