import { describe, expect, test } from "@jest/globals";
import { deriveBitcoinAddresses, computeBitcoinKeyId } from "@payment-links/chains";
import { type Account, newId } from "@payment-links/contracts";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { allocateAddressIndex } from "../store/link-addresses.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(createRig);
const dayMs = 24 * 60 * 60 * 1_000;

const createBitcoinAccount = (walletAddress: string, firstAddressIndex?: number): Account =>
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

/** Creates a shop that is paid in bitcoin, with helpers for its requests. */
const createShop = (descriptor = generateDescriptor(), firstAddressIndex?: number) => {
  const account = createBitcoinAccount(descriptor, firstAddressIndex);
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  const createLink = (body: object = {}, headers: Record<string, string> = {}) =>
    rig.createLink({ ...keyHeaders, ...headers }, { toAmount: "0.001", ...body });
  const callConsole = async (method: string, path: string) =>
    (await rig.call(`/console/api/payment-links${path}`, { method, headers: sessionHeaders })).json;
  return {
    account,
    keyHeaders,
    descriptor,
    createLink,
    createLinks: async (count: number) => {
      const ids: string[] = [];
      for (let createdCount = 0; createdCount < count; createdCount += 1)
        ids.push(await createLink());
      return ids;
    },
    readAddress: async (id: string): Promise<string> => (await rig.retrieve(id)).destinationAddress,
    deriveAddress: (index: number) =>
      deriveBitcoinAddresses("bitcoin", descriptor, { startIndex: index, count: 1 })[0],
    deactivate: (id: string) => callConsole("POST", `/${id}/deactivate`),
    readAddressGap: async (id: string) => (await callConsole("GET", `/${id}`)).addressGap,
    /** Reports a payment to a link's own address with one of the statuses. */
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
  test("takes the next address of its owner's key and does not reveal the key to anyone else", async () => {
    const shop = createShop();
    const [firstLinkId = "", secondLinkId = ""] = await shop.createLinks(2);
    expect([await shop.readAddress(firstLinkId), await shop.readAddress(secondLinkId)]).toEqual([
      shop.deriveAddress(0),
      shop.deriveAddress(1),
    ]);
    const link = await rig.retrieve(firstLinkId);
    expect(link.user.wallet.walletAddress).toBe(shop.deriveAddress(0));
    const [event] = await rig.listEvents(firstLinkId);
    expect(event?.data.link.destinationAddress).toBe(shop.deriveAddress(0));
    const page = await rig.call(new URL(link.url).pathname);
    const checkout = await rig.call(`/checkout/payment-links/${firstLinkId}`);
    const list = await rig.call("/v1/payment-link", { headers: shop.keyHeaders });
    const responsesText = JSON.stringify([link, event, page.text, checkout.text, list.text]);
    expect(responsesText).toContain(shop.deriveAddress(0));
    expect(responsesText).not.toContain("xpub");
  });

  test("gets a unique address among 20 concurrent requests by two accounts with the same key", async () => {
    // They wait for each other. With 50, the last ones reached the time limit of a statement on a
    // busy machine.
    const requestCount = 20;
    const descriptor = generateDescriptor();
    const shops = [createShop(descriptor), createShop(descriptor)];
    const ids = await Promise.all(
      Array.from({ length: requestCount }, (_, callIndex) =>
        (shops[callIndex % 2] ?? createShop()).createLink(
          {},
          callIndex % 3 === 0 ? {} : createIdempotencyHeaders(),
        ),
      ),
    );
    const addresses = await Promise.all(ids.map((id) => createShop().readAddress(id)));
    expect(new Set(addresses).size).toBe(requestCount);
    const range = { startIndex: 0, count: requestCount };
    const expected = deriveBitcoinAddresses("bitcoin", descriptor, range);
    expect(addresses.toSorted()).toEqual(expected.toSorted());
  });

  test("waits for a create on the same key but not for one on another key", async () => {
    const [ownShop, otherShop] = [createShop(), createShop()];
    const keyId = computeBitcoinKeyId("bitcoin", ownShop.descriptor);
    let waitingCreate: Promise<string> | undefined;
    await transact(rig.pool, async (tx) => {
      await allocateAddressIndex(tx, { keyId, firstIndex: 0 });
      expect(await otherShop.readAddress(await otherShop.createLink())).toBe(
        otherShop.deriveAddress(0),
      );
      waitingCreate = ownShop.createLink();
      await rig.waitUntilBlocked(tx);
    });
    const id = (await waitingCreate) ?? "";
    expect(await ownShop.readAddress(id)).toBe(ownShop.deriveAddress(1));
  });

  test("repeated with one idempotency key takes one address, and a rejected request takes none", async () => {
    const shop = createShop();
    const idempotencyHeaders = createIdempotencyHeaders();
    const ids = [
      await shop.createLink({}, idempotencyHeaders),
      await shop.createLink({}, idempotencyHeaders),
    ];
    expect(ids[0]).toBe(ids[1]);
    const rejected = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: { ...shop.keyHeaders, ...createIdempotencyHeaders() },
      body: '{"toAmount":"0.000000001"}',
    });
    expect([rejected.status, rejected.json.errors[0].code]).toEqual([
      422,
      "INVALID_PAYMENT_LINK_AMOUNT",
    ]);
    expect(await shop.readAddress(await shop.createLink())).toBe(shop.deriveAddress(1));
  });

  test("that is rejected does not wait for another create on its key", async () => {
    const shop = createShop();
    const keyId = computeBitcoinKeyId("bitcoin", shop.descriptor);
    await transact(rig.pool, async (tx) => {
      await allocateAddressIndex(tx, { keyId, firstIndex: 0 });
      const body = { method: "POST", headers: shop.keyHeaders, body: '{"toAmount":"0.000000001"}' };
      expect(await rig.call("/v1/payment-link", body)).toMatchObject({ status: 422 });
    });
  });

  test("that is rolled back leaves its address to the next link", async () => {
    const shop = createShop();
    const keyId = computeBitcoinKeyId("bitcoin", shop.descriptor);
    const allocateAndRollBack = () =>
      transact(rig.pool, async (tx) => {
        const allocated = await allocateAddressIndex(tx, { keyId, firstIndex: 0 });
        throw new Error(`rolled back after allocating index ${allocated.index}`);
      });
    await expect(allocateAndRollBack()).rejects.toThrow("rolled back after allocating index 0");
    expect(await shop.readAddress(await shop.createLink())).toBe(shop.deriveAddress(0));
  });

  test("is rejected if the wallet is a single address from before keys were required", async () => {
    const keyHeaders = rig.createKeyHeaders(
      createBitcoinAccount("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"),
    );
    const response = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: keyHeaders,
      body: '{"toAmount":"1"}',
    });
    expect([response.status, response.json.errors[0].code]).toEqual([
      409,
      "PAYMENT_LINK_ACCOUNT_NOT_READY",
    ]);
  });
});

let keyCount = 0;
const createIdempotencyHeaders = () => ({ "idempotency-key": `bitcoin-${(keyCount += 1)}` });

describe("the address of a link that has ended", () => {
  test.each(["deactivated", "expired", "paid"] as const)(
    "is never reused, even a year after the link was %s (rule API-33)",
    async (endReason) => {
      const shop = createShop();
      const expirationDate = new Date(rig.clock.now().getTime() + dayMs).toISOString();
      const firstLinkId = await shop.createLink(endReason === "expired" ? { expirationDate } : {});
      if (endReason === "deactivated") await shop.deactivate(firstLinkId);
      if (endReason === "paid") await shop.pay(firstLinkId);
      rig.clock.advance(366 * dayMs);
      const ids = await Promise.all(Array.from({ length: 10 }, () => shop.createLink()));
      const addresses = await Promise.all(ids.map(shop.readAddress));
      expect(addresses).not.toContain(shop.deriveAddress(0));
      expect(new Set(addresses).size).toBe(10);
      expect(await shop.readAddress(firstLinkId)).toBe(shop.deriveAddress(0));
    },
  );
});

describe("the addresses of the next links on a key", () => {
  const listReservations = async (firstAddress: string | undefined) =>
    (await rig.listEvents(firstAddress ?? "")).map(({ type, data }) => [type, data]);

  test("are reserved before the first link, and at least 20 are reserved at any time (rule CHAIN-28)", async () => {
    const shop = createShop();
    await rig.receiveAccount({ ...shop.account, version: 2 });
    const addresses = deriveBitcoinAddresses("bitcoin", shop.descriptor, {
      startIndex: 0,
      count: 40,
    });
    expect(await listReservations(addresses[0])).toEqual([
      ["bitcoin_addresses.reserved", { chainId: "bitcoin", addresses }],
    ]);
    await rig.receiveAccount({ ...shop.account, version: 3 });
    expect(await listReservations(addresses[0])).toHaveLength(1);
    const ids = await shop.createLinks(20);
    expect(await shop.readAddress(ids[0] ?? "")).toBe(addresses[0]);
    expect(await listReservations(shop.deriveAddress(40))).toEqual([]);
    await shop.createLink();
    const nextAddresses = deriveBitcoinAddresses("bitcoin", shop.descriptor, {
      startIndex: 40,
      count: 21,
    });
    expect(await listReservations(nextAddresses[0])).toMatchObject([
      [expect.anything(), { addresses: nextAddresses }],
    ]);
  });

  test("are reserved with a key's first link if its wallet was not received before", async () => {
    const shop = createShop();
    await shop.createLink();
    const [[, { addresses }] = ["", {}]] = await listReservations(shop.deriveAddress(1));
    expect(addresses).toEqual(
      deriveBitcoinAddresses("bitcoin", shop.descriptor, { startIndex: 1, count: 40 }),
    );
  });

  test("are not reserved for a single-address wallet or a token that the catalogue lacks", async () => {
    const { account, descriptor } = createShop();
    const [wallet] = account.wallets;
    if (wallet === undefined) throw new Error("the shop has no wallet");
    const wallets = [
      { ...wallet, walletAddress: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" },
      { ...wallet, tokenId: "lost" },
    ];
    await rig.receiveAccount({ ...account, version: 2, wallets });
    expect(
      await listReservations(
        deriveBitcoinAddresses("bitcoin", descriptor, { startIndex: 0, count: 1 })[0],
      ),
    ).toEqual([]);
  });
});

describe("the first address index of a Bitcoin wallet", () => {
  const createShopWithFirstIndex = (firstAddressIndex: number) => {
    const shop = createShop(generateDescriptor(), firstAddressIndex);
    return { ...shop, publishAccount: () => rig.receiveAccount({ ...shop.account, version: 2 }) };
  };

  test.each(["before", "never"] as const)(
    "is the index of the first link's address, account event received: %s (rule CALLER-33)",
    async (accountTiming) => {
      const shop = createShopWithFirstIndex(7);
      if (accountTiming === "before") await shop.publishAccount();
      const [firstLinkId = "", secondLinkId = ""] = await shop.createLinks(2);
      expect([await shop.readAddress(firstLinkId), await shop.readAddress(secondLinkId)]).toEqual([
        shop.deriveAddress(7),
        shop.deriveAddress(8),
      ]);
      // Lower indexes belong to the owner's wallet app and do not count as a gap.
      expect(await shop.readAddressGap(secondLinkId)).toBe(2);
    },
  );

  const suggestFirstIndex = async (
    shop: Pick<ReturnType<typeof createShop>, "account">,
    walletAddress: string,
    {
      tokenId = "btc",
      onRig = rig,
    }: { tokenId?: string; onRig?: Awaited<ReturnType<typeof createRig>> } = {},
  ) => {
    const response = await onRig.call("/console/api/payment-links/first-address-index", {
      method: "POST",
      headers: { ...onRig.createSessionHeaders(shop.account), "content-type": "application/json" },
      body: JSON.stringify({ walletAddress, tokenId }),
    });
    return response.status === 200 ? response.json : response.json.errors[0].code;
  };

  test("is suggested above all addresses that the node reports as used and that links had (rule CALLER-33)", async () => {
    const shop = createShop();
    rig.bitcoin.usedAddresses = new Set([shop.deriveAddress(0) ?? "", shop.deriveAddress(3) ?? ""]);
    expect(await suggestFirstIndex(shop, shop.descriptor)).toEqual({
      firstAddressIndex: 9,
      isChecked: true,
    });
    await shop.createLinks(12);
    const suggestion = await suggestFirstIndex(shop, shop.descriptor);
    expect(suggestion).toEqual({ firstAddressIndex: 12, isChecked: true });
    delete rig.bitcoin.usedAddresses;
    const uncheckedShop = createShop();
    expect(await suggestFirstIndex(uncheckedShop, uncheckedShop.descriptor)).toEqual({
      firstAddressIndex: 5,
      isChecked: false,
    });
  });

  test("is not suggested for anything but an account's Bitcoin key", async () => {
    const shop = createShop();
    expect(await suggestFirstIndex(shop, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")).toBe(
      "INVALID_WALLET_ADDRESS",
    );
    expect(await suggestFirstIndex(shop, shop.descriptor, { tokenId: "usdc-base" })).toBe(
      "INVALID_WALLET_ADDRESS",
    );
    expect(await suggestFirstIndex(shop, "0b".repeat(32))).toBe("PRIVATE_KEY_REFUSED");
  });

  test("is suggested at a fiftieth of the rate of other calls, because each call derives hundreds of addresses", async () => {
    const limit = { tokensPerSecond: 0.001, burst: 100 };
    const limitedRig = await createRig({ limits: { perKey: limit, perAddress: limit } });
    try {
      const descriptor = generateDescriptor();
      const shop = { account: createBitcoinAccount(descriptor) };
      const suggest = () => suggestFirstIndex(shop, descriptor, { onRig: limitedRig });
      expect(await suggest()).toMatchObject({ firstAddressIndex: 5 });
      expect(await suggest()).toMatchObject({ firstAddressIndex: 5 });
      expect(await suggest()).toBe("429");
    } finally {
      await limitedRig.close();
    }
  });

  test("never leads back to an address that a link had", async () => {
    const [shop, otherShop] = [
      createShop(generateDescriptor(), 5),
      createShop(generateDescriptor()),
    ];
    const sameKeyShop = createShop(shop.descriptor, 2);
    expect(await shop.readAddress(await shop.createLink())).toBe(shop.deriveAddress(5));
    expect(await sameKeyShop.readAddress(await sameKeyShop.createLink())).toBe(
      shop.deriveAddress(6),
    );
    await otherShop.createLink();
    const raisedIndexShop = createShop(otherShop.descriptor, 9);
    expect(await raisedIndexShop.readAddress(await raisedIndexShop.createLink())).toBe(
      otherShop.deriveAddress(9),
    );
    expect(await otherShop.readAddress(await otherShop.createLink())).toBe(
      otherShop.deriveAddress(10),
    );
  });
});

describe("the address gap of a key", () => {
  test("is shown to the owner for each Bitcoin link as the number of addresses since the last paid one", async () => {
    const shop = createShop();
    const ids = await shop.createLinks(22);
    const [firstLinkId = "", secondLinkId = ""] = ids;
    const lastLinkId = ids.at(-1) ?? "";
    expect(await shop.readAddressGap(lastLinkId)).toBe(22);
    await shop.pay(secondLinkId, "processing");
    expect(await shop.readAddressGap(lastLinkId)).toBe(20);
    expect(await shop.readAddressGap(firstLinkId)).toBe(20);
    const otherAccount = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(otherAccount), { toAmount: "1" });
    const headers = rig.createSessionHeaders(otherAccount);
    expect((await rig.call(`/console/api/payment-links/${id}`, { headers })).json.addressGap).toBe(
      null,
    );
  });
});
