import { describe, expect, test } from "@jest/globals";
import { type Account, bitcoinAddresses, bitcoinKeyId, newId } from "@payment-links/contracts";
import { drawDescriptor } from "@payment-links/contracts/testing/draw-descriptor";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { takeAddressPlace } from "../store/bitcoin-addresses.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(openRig);
const dayMs = 24 * 60 * 60 * 1_000;

const onBitcoin = (walletAddress: string, firstAddressIndex?: number): Account =>
  sampleAccount({
    wallets: [
      {
        id: newId("wallet"),
        walletAddress,
        tokenId: "btc",
        chainType: "BVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
        ...(firstAddressIndex !== undefined && { firstAddressIndex }),
      },
    ],
  });

/** A shop that is paid in bitcoins, with what its calls need. */
const openShop = (descriptor = drawDescriptor(), firstAddressIndex?: number) => {
  const account = onBitcoin(descriptor, firstAddressIndex);
  const key = rig.giveKey(account);
  const session = rig.giveSession(account);
  const create = (order: object = {}, headers: Record<string, string> = {}) =>
    rig.createLink({ ...key, ...headers }, { toAmount: "0.001", ...order });
  const console = async (method: string, path: string) =>
    (await rig.call(`/console/api/payment-links${path}`, { method, headers: session })).json;
  return {
    account,
    key,
    descriptor,
    create,
    createMany: async (count: number) => {
      const ids: string[] = [];
      for (let made = 0; made < count; made += 1) ids.push(await create());
      return ids;
    },
    addressOf: async (id: string): Promise<string> => (await rig.retrieve(id)).destinationAddress,
    addressAt: (index: number) =>
      bitcoinAddresses("bitcoin", descriptor, { from: index, count: 1 })[0],
    deactivate: (id: string) => console("POST", `/${id}/deactivate`),
    gapOf: async (id: string) => (await console("GET", `/${id}`)).addressGap,
    /** A payment to a link's own address, in one of its states. */
    pay: async (id: string, status: "processing" | "settled" | "failed" = "settled") =>
      rig.settle(
        sampleSettlement(id, {
          status,
          amount: "0.0001",
          chainId: "bitcoin",
          tokenAddress: "BTC",
          destinationAddress: (await rig.retrieve(id)).destinationAddress,
        }),
      ),
  };
};

describe("a link on Bitcoin (rule API-33)", () => {
  test("takes the next address of its owner's key, and nobody but the owner sees the key", async () => {
    const shop = openShop();
    const [first = "", second = ""] = await shop.createMany(2);
    expect([await shop.addressOf(first), await shop.addressOf(second)]).toEqual([
      shop.addressAt(0),
      shop.addressAt(1),
    ]);
    const link = await rig.retrieve(first);
    expect(link.user.wallet.walletAddress).toBe(shop.addressAt(0));
    const [event] = await rig.eventsOf(first);
    expect(event?.data.link.destinationAddress).toBe(shop.addressAt(0));
    const page = await rig.call(new URL(link.url).pathname);
    const checkout = await rig.call(`/checkout/payment-links/${first}`);
    const list = await rig.call("/v1/payment-link", { headers: shop.key });
    const told = JSON.stringify([link, event, page.text, checkout.text, list.text]);
    expect(told).toContain(shop.addressAt(0));
    expect(told).not.toContain("xpub");
  });

  test("made with fifty others at once shares its address with none, whoever makes them", async () => {
    const descriptor = drawDescriptor();
    const shops = [openShop(descriptor), openShop(descriptor)];
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, turn) =>
        (shops[turn % 2] ?? openShop()).create({}, turn % 3 === 0 ? {} : keyed()),
      ),
    );
    const addresses = await Promise.all(ids.map((id) => openShop().addressOf(id)));
    expect(new Set(addresses).size).toBe(50);
    const expected = bitcoinAddresses("bitcoin", descriptor, { from: 0, count: 50 });
    expect(addresses.toSorted()).toEqual(expected.toSorted());
  });

  test("does not wait for another key's, only for its own", async () => {
    const [mine, other] = [openShop(), openShop()];
    const keyId = bitcoinKeyId("bitcoin", mine.descriptor);
    let waiting: Promise<string> | undefined;
    await transact(rig.pool, async (tx) => {
      await takeAddressPlace(tx, { keyId, firstIndex: 0 });
      expect(await other.addressOf(await other.create())).toBe(other.addressAt(0));
      waiting = mine.create();
      await rig.untilBlocked(tx);
    });
    const id = (await waiting) ?? "";
    expect(await mine.addressOf(id)).toBe(mine.addressAt(1));
  });

  test("repeated under one idempotency key takes one address, and a refused one none", async () => {
    const shop = openShop();
    const header = keyed();
    const ids = [await shop.create({}, header), await shop.create({}, header)];
    expect(ids[0]).toBe(ids[1]);
    const refused = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: { ...shop.key, ...keyed() },
      body: '{"toAmount":"0.000000001"}',
    });
    expect([refused.status, refused.json.errors[0].code]).toEqual([
      422,
      "INVALID_PAYMENT_LINK_AMOUNT",
    ]);
    expect(await shop.addressOf(await shop.create())).toBe(shop.addressAt(1));
  });

  test("that is refused waits for no other of its key", async () => {
    const shop = openShop();
    const keyId = bitcoinKeyId("bitcoin", shop.descriptor);
    await transact(rig.pool, async (tx) => {
      await takeAddressPlace(tx, { keyId, firstIndex: 0 });
      const order = { method: "POST", headers: shop.key, body: '{"toAmount":"0.000000001"}' };
      expect(await rig.call("/v1/payment-link", order)).toMatchObject({ status: 422 });
    });
  });

  test("that is rolled back leaves its address to the next", async () => {
    const shop = openShop();
    const keyId = bitcoinKeyId("bitcoin", shop.descriptor);
    const take = () =>
      transact(rig.pool, async (tx) => {
        const place = await takeAddressPlace(tx, { keyId, firstIndex: 0 });
        throw new Error(`took ${place.index}`);
      });
    await expect(take()).rejects.toThrow("took 0");
    expect(await shop.addressOf(await shop.create())).toBe(shop.addressAt(0));
  });

  test("is not made where the wallet is one address, as it was before keys were asked for", async () => {
    const key = rig.giveKey(onBitcoin("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"));
    const answer = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: key,
      body: '{"toAmount":"1"}',
    });
    expect([answer.status, answer.json.errors[0].code]).toEqual([
      409,
      "PAYMENT_LINK_ACCOUNT_NOT_READY",
    ]);
  });
});

let keys = 0;
const keyed = () => ({ "idempotency-key": `bitcoin-${(keys += 1)}` });

describe("the address of a link that has ended", () => {
  test.each(["deactivated", "expired", "paid"] as const)(
    "is never given to another link, also a year after the link was %s (rule API-33)",
    async (end) => {
      const shop = openShop();
      const expirationDate = new Date(rig.clock.now().getTime() + dayMs).toISOString();
      const first = await shop.create(end === "expired" ? { expirationDate } : {});
      if (end === "deactivated") await shop.deactivate(first);
      if (end === "paid") await shop.pay(first);
      rig.clock.advance(366 * dayMs);
      const ids = await Promise.all(Array.from({ length: 10 }, () => shop.create()));
      const addresses = await Promise.all(ids.map(shop.addressOf));
      expect(addresses).not.toContain(shop.addressAt(0));
      expect(new Set(addresses).size).toBe(10);
      expect(await shop.addressOf(first)).toBe(shop.addressAt(0));
    },
  );
});

describe("the addresses of the next links on a key", () => {
  const reservedBy = async (firstAddress: string | undefined) =>
    (await rig.eventsOf(firstAddress ?? "")).map(({ type, data }) => [type, data]);

  test("are reserved before the first link is made, and 20 at least at any time (rule CHAIN-28)", async () => {
    const shop = openShop();
    await rig.hear({ ...shop.account, version: 2 });
    const addresses = bitcoinAddresses("bitcoin", shop.descriptor, { from: 0, count: 40 });
    expect(await reservedBy(addresses[0])).toEqual([
      ["bitcoin_addresses.reserved", { chainId: "bitcoin", addresses }],
    ]);
    await rig.hear({ ...shop.account, version: 3 });
    expect(await reservedBy(addresses[0])).toHaveLength(1);
    const ids = await shop.createMany(20);
    expect(await shop.addressOf(ids[0] ?? "")).toBe(addresses[0]);
    expect(await reservedBy(shop.addressAt(40))).toEqual([]);
    await shop.create();
    const next = bitcoinAddresses("bitcoin", shop.descriptor, { from: 40, count: 21 });
    expect(await reservedBy(next[0])).toMatchObject([[expect.anything(), { addresses: next }]]);
  });

  test("are reserved with a key's first link where its wallet was not heard of before", async () => {
    const shop = openShop();
    await shop.create();
    const [[, { addresses }] = ["", {}]] = await reservedBy(shop.addressAt(1));
    expect(addresses).toEqual(bitcoinAddresses("bitcoin", shop.descriptor, { from: 1, count: 40 }));
  });

  test("are not reserved for a wallet that is one address, or whose token the catalogue lacks", async () => {
    const { account, descriptor } = openShop();
    const [wallet] = account.wallets;
    if (wallet === undefined) throw new Error("the shop has a wallet");
    const wallets = [
      { ...wallet, walletAddress: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" },
      { ...wallet, tokenId: "lost" },
    ];
    await rig.hear({ ...account, version: 2, wallets });
    expect(
      await reservedBy(bitcoinAddresses("bitcoin", descriptor, { from: 0, count: 1 })[0]),
    ).toEqual([]);
  });
});

describe("the first index of a wallet on Bitcoin", () => {
  const firstFrom = (firstAddressIndex: number) => {
    const shop = openShop(drawDescriptor(), firstAddressIndex);
    return { ...shop, announce: () => rig.hear({ ...shop.account, version: 2 }) };
  };

  test.each(["before", "without"] as const)(
    "is that of the first link's address, where the account was heard of %s it (rule CALLER-33)",
    async (when) => {
      const shop = firstFrom(7);
      if (when === "before") await shop.announce();
      const [first = "", second = ""] = await shop.createMany(2);
      expect([await shop.addressOf(first), await shop.addressOf(second)]).toEqual([
        shop.addressAt(7),
        shop.addressAt(8),
      ]);
      // The addresses below are the owner's own, and no part of the gap.
      expect(await shop.gapOf(second)).toBe(2);
    },
  );

  const suggest = async (shop: ReturnType<typeof openShop>, typed: string, tokenId = "btc") => {
    const answer = await rig.call("/console/api/payment-links/first-address-index", {
      method: "POST",
      headers: { ...rig.giveSession(shop.account), "content-type": "application/json" },
      body: JSON.stringify({ walletAddress: typed, tokenId }),
    });
    return answer.status === 200 ? answer.json : answer.json.errors[0].code;
  };

  test("is suggested above all addresses that the node has seen used, and that links had (rule CALLER-33)", async () => {
    const shop = openShop();
    rig.bitcoin.used = new Set([shop.addressAt(0) ?? "", shop.addressAt(3) ?? ""]);
    expect(await suggest(shop, shop.descriptor)).toEqual({ firstAddressIndex: 9, isChecked: true });
    await shop.createMany(12);
    const suggestion = await suggest(shop, shop.descriptor);
    expect(suggestion).toEqual({ firstAddressIndex: 12, isChecked: true });
    delete rig.bitcoin.used;
    const unchecked = openShop();
    expect(await suggest(unchecked, unchecked.descriptor)).toEqual({
      firstAddressIndex: 5,
      isChecked: false,
    });
  });

  test("is not suggested for what is no account's key on Bitcoin", async () => {
    const shop = openShop();
    expect(await suggest(shop, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")).toBe(
      "INVALID_WALLET_ADDRESS",
    );
    expect(await suggest(shop, shop.descriptor, "usdc-base")).toBe("INVALID_WALLET_ADDRESS");
    expect(await suggest(shop, "0b".repeat(32))).toBe("PRIVATE_KEY_REFUSED");
  });

  test("never leads back to an address that a link had", async () => {
    const [shop, later] = [openShop(drawDescriptor(), 5), openShop(drawDescriptor())];
    const again = openShop(shop.descriptor, 2);
    expect(await shop.addressOf(await shop.create())).toBe(shop.addressAt(5));
    expect(await again.addressOf(await again.create())).toBe(shop.addressAt(6));
    await later.create();
    const raised = openShop(later.descriptor, 9);
    expect(await raised.addressOf(await raised.create())).toBe(later.addressAt(9));
    expect(await later.addressOf(await later.create())).toBe(later.addressAt(10));
  });
});

describe("the gap of a key's addresses", () => {
  test("is told to the owner with each link that has one: all since the last that was paid", async () => {
    const shop = openShop();
    const ids = await shop.createMany(22);
    const [first = "", second = ""] = ids;
    const last = ids.at(-1) ?? "";
    expect(await shop.gapOf(last)).toBe(22);
    await shop.pay(second, "processing");
    expect(await shop.gapOf(last)).toBe(20);
    expect(await shop.gapOf(first)).toBe(20);
    const elsewhere = sampleAccount();
    const id = await rig.createLink(rig.giveKey(elsewhere), { toAmount: "1" });
    const headers = rig.giveSession(elsewhere);
    expect((await rig.call(`/console/api/payment-links/${id}`, { headers })).json.addressGap).toBe(
      null,
    );
  });
});
