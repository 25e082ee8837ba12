import { describe, expect, test } from "@jest/globals";
import { type Account, type Mode, loadCatalogue } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleModeAccount, usdcOnBaseSepolia } from "../testing/sample-mode-account.ts";
import { sampleAccount, sampleSettlement, shopAddress, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(createRig);

const createShop = (account: Account = sampleModeAccount()) => {
  const session = { ...rig.createSessionHeaders(account), origin: "http://127.0.0.1" };
  const keys = {
    live: rig.createKeyHeaders(account),
    test: rig.createKeyHeaders(account, { mode: "test" }),
  };
  const read = async (path: string) => (await rig.call(path, { headers: session })).json;
  return { account, session, keys, read };
};
type Shop = ReturnType<typeof createShop>;

const requestLink = (headers: Record<string, string>, body: object = { toAmount: "5" }) =>
  rig.call("/v1/payment-link", { method: "POST", headers, body: JSON.stringify(body) });

const listIds = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

/** Lists the links that a key can read. The list of changes has the same links. */
const listWithKey = async ({ keys }: Shop, mode: Mode) => {
  const [links, changedLinks] = await Promise.all(
    ["", "?updatedAfter=1970-01-01T00:00:00Z"].map(async (query) =>
      listIds((await rig.call(`/v1/payment-link${query}`, { headers: keys[mode] })).json),
    ),
  );
  expect(changedLinks?.toSorted()).toEqual(links?.toSorted());
  return links;
};

describe("a link's mode", () => {
  test("is its key's mode, and the link is paid to that mode's default wallet (rule MODE-1)", async () => {
    const { keys, read } = createShop();
    for (const [mode, { chainId }] of [
      ["live", usdcOnBase],
      ["test", usdcOnBaseSepolia],
    ] as const) {
      const id = await rig.createLink(keys[mode], { toAmount: "5" });
      const link = await rig.retrieve(id);
      expect(link.token.chain.id).toBe(chainId);
      expect(link).not.toHaveProperty("mode");
      expect(await read(`/console/api/payment-links/${id}`)).toMatchObject({ mode });
      const [created] = await rig.listEvents(id);
      expect(created?.data.link.mode).toBe(mode);
    }
  });

  test("is the one of the console's query, live by default (rule MODE-1)", async () => {
    const { session, read } = createShop();
    for (const [query, mode] of [
      ["", "live"],
      ["?mode=live", "live"],
      ["?mode=test", "test"],
    ]) {
      const response = await rig.call(`/console/api/payment-links${query}`, {
        method: "POST",
        headers: session,
        body: JSON.stringify({ toAmount: "5" }),
      });
      expect(await read(`/console/api/payment-links/${response.json.id}`)).toMatchObject({ mode });
    }
    const response = await rig.call("/console/api/payment-links?mode=demo", {
      method: "POST",
      headers: session,
      body: JSON.stringify({ toAmount: "5" }),
    });
    expect(response.json.errors[0].code).toBe("enum");
  });

  test("needs a default wallet of this mode: a test key never uses a live wallet, nor the reverse (rule MODE-3)", async () => {
    const liveOnly = createShop(sampleAccount());
    const [, testWallet] = sampleModeAccount().wallets;
    if (testWallet === undefined) throw new Error("no test wallet");
    const testOnly = createShop(sampleAccount({ wallets: [testWallet] }));
    expect((await requestLink(liveOnly.keys.live)).status).toBe(200);
    expect((await requestLink(testOnly.keys.test)).status).toBe(200);
    for (const headers of [liveOnly.keys.test, testOnly.keys.live]) {
      const response = await requestLink(headers);
      expect(response.json.errors[0].code).toBe("PAYMENT_LINK_ACCOUNT_NOT_READY");
    }
  });

  test("cannot be test if the catalogue has no test network (rule MODE-4)", async () => {
    const catalogue = loadCatalogue();
    const tokens = catalogue.tokens.filter(({ chain }) => chain.isTestNetwork !== true);
    const liveRig = await createRig({ catalogue: { ...catalogue, tokens } });
    try {
      const headers = liveRig.createKeyHeaders(sampleAccount(), { mode: "test" });
      const body = JSON.stringify({ toAmount: "5" });
      const response = await liveRig.call("/v1/payment-link", { method: "POST", headers, body });
      expect([response.status, response.json.errors[0].code]).toEqual([
        409,
        "TEST_MODE_UNAVAILABLE",
      ]);
    } finally {
      await liveRig.close();
    }
  });

  test("is part of the scope of an idempotency key (rule MODE-1)", async () => {
    const { keys } = createShop();
    const request = (mode: Mode) => requestLink({ ...keys[mode], "idempotency-key": "order-1" });
    const live = (await request("live")).json;
    const test = (await request("test")).json;
    expect(test.id).not.toBe(live.id);
    expect((await request("live")).json).toEqual(live);
    expect((await request("test")).json).toEqual(test);
  });
});

describe("each view shows only one mode (rule MODE-1)", () => {
  test("the list of a key, at every offset and status", async () => {
    const shop = createShop();
    const ids = { live: [] as string[], test: [] as string[] };
    for (let count = 0; count < 12; count += 1) {
      rig.clock.advance(1);
      for (const mode of ["live", "test"] as const)
        ids[mode].unshift(await rig.createLink(shop.keys[mode], { toAmount: "5" }));
    }
    for (const mode of ["live", "test"] as const) {
      expect(await listWithKey(shop, mode)).toEqual(ids[mode].slice(0, 10));
      for (const query of ["offset=10", "offset=10&status=active"]) {
        const { json } = await rig.call(`/v1/payment-link?${query}`, { headers: shop.keys[mode] });
        expect([listIds(json), json.nextOffset]).toEqual([ids[mode].slice(10), null]);
      }
      for (const query of ["", "&status=active", "&q=plink", "&token=none", `&q=${ids.live[0]}`]) {
        const found = await shop.read(`/console/api/payment-links?mode=${mode}${query}`);
        expect(ids[mode]).toEqual(expect.arrayContaining(listIds(found)));
      }
      const [newestId = ""] = ids[mode];
      const otherMode = mode === "live" ? "test" : "live";
      const lookUp = (wantedMode: Mode) =>
        shop.read(`/console/api/payment-links?mode=${wantedMode}&q=${newestId}`);
      expect(listIds(await lookUp(mode))).toEqual([newestId]);
      expect(listIds(await lookUp(otherMode))).toEqual([]);
      const after = `/console/api/payment-links?mode=${otherMode}&before=${newestId}`;
      expect((await rig.call(after, { headers: shop.session })).status).toBe(404);
    }
  });

  test("the exports, the overview and the ignored fields", async () => {
    const { keys, session, read } = createShop();
    const ids = { live: "", test: "" };
    for (const [mode, token] of [
      ["live", usdcOnBase],
      ["test", usdcOnBaseSepolia],
    ] as const) {
      ids[mode] = await rig.createLink(keys[mode], { toAmount: "5", [`unknown_${mode}`]: 1 });
      const { chainId, tokenAddress } = token;
      const payment = { chainId, tokenAddress, destinationAddress: shopAddress };
      await rig.settle(sampleSettlement(ids[mode], { ...payment, amount: "5" }));
      await rig.settle(sampleSettlement(ids[mode], { ...payment, amount: "1" }));
    }
    const readText = async (path: string) => (await rig.call(path, { headers: session })).text;
    for (const [mode, otherMode, token] of [
      ["live", "test", usdcOnBase],
      ["test", "live", usdcOnBaseSepolia],
    ] as const) {
      for (const file of ["payment-links.csv", "payments.csv"]) {
        const text = await readText(`/console/api/${file}?mode=${mode}`);
        expect(text).toContain(ids[mode]);
        expect(text).not.toContain(ids[otherMode]);
      }
      const linkExport = `/console/api/payments.csv?mode=${mode}&link=${ids[otherMode]}`;
      expect((await rig.call(linkExport, { headers: session })).status).toBe(404);
      const overview = await read(`/console/api/overview?mode=${mode}`);
      expect(overview).toMatchObject({
        received: [{ tokenId: token.tokenId, amount: "5", paymentCount: 1 }],
        links: { completed: { count: 1 }, active: { count: 0 } },
        unapplied: { count: 1, payments: [{ paymentLinkId: ids[mode], reason: "completed" }] },
      });
      const recentLinkIds = overview.recentPayments.map(
        ({ paymentLinkId }: { paymentLinkId: string }) => paymentLinkId,
      );
      expect(recentLinkIds).toEqual([ids[mode], ids[mode]]);
      const ignored = await read(`/console/api/payment-links/ignored-fields?mode=${mode}`);
      expect(ignored.data).toMatchObject([{ names: [`unknown_${mode}`] }]);
    }
    const live = await read("/console/api/overview");
    expect(live).toEqual(await read("/console/api/overview?mode=live"));
    expect(await readText("/console/api/payments.csv")).not.toContain(ids.test);
  });
});
