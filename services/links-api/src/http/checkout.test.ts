import { describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import {
  sampleAccount,
  sampleChainNames,
  sampleSettlement,
  shopAddress,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(() => openRig({ settlementChains: ["8453"] }));

const open = (order: object = {}) =>
  rig.createLink(rig.giveKey(sampleAccount()), { toAmount: "25.5", ...order });

const checkout = (id: string, query = "") => rig.call(`/checkout/payment-links/${id}${query}`);

describe("GET /checkout/payment-links/:id (rule CHAIN-10)", () => {
  test("tells anyone what to pay, where, with which reference, and how the link stands", async () => {
    const id = await open({ maxUsage: 3, expirationDate: "2026-12-24T18:00:00Z" });
    const answer = await checkout(id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { url, token, instructions, ...rest } = answer.json;
    expect(rest).toEqual({
      id,
      status: "active",
      toAmount: "25.5",
      receivedAmount: "0",
      remainingAmount: "25.5",
      currentUsage: 0,
      maxUsage: 3,
      expirationDate: "2026-12-24T18:00:00.000Z",
      destinationAddress: shopAddress,
      pendingPayments: [],
      reason: null,
      wrongToken: null,
      payment: null,
    });
    const link = await rig.retrieve(id);
    expect([url, token]).toEqual([link.url, link.token]);
    const [created] = await rig.eventsOf(id);
    expect(instructions).toMatchObject({
      amount: "25.5",
      amountBaseUnits: "25500000",
      proxyAddress: "0x1892196E80C4c17ea5100Da765Ab48c1fE2Fb814",
      paymentReference: `0x${created?.data.link.paymentReference}`,
    });
    expect(instructions.ways).toEqual([
      { kind: "batch", signatures: 1, steps: instructions.steps },
      { kind: "approve_and_pay", signatures: 2, steps: instructions.steps },
    ]);
    expect(instructions.steps).toEqual([
      {
        kind: "approve",
        to: usdcOnBase.tokenAddress,
        value: "0",
        data: expect.stringMatching(/^0x095ea7b3/),
      },
      {
        kind: "pay",
        to: instructions.proxyAddress,
        value: "0",
        data: expect.stringContaining(created?.data.link.paymentReference),
      },
    ]);
  });

  test("shows payments on their way, and asks for what remains once they have settled", async () => {
    const id = await open();
    const seen = sampleSettlement(id, {
      amount: "10.5",
      status: "processing",
      sourceTransaction: "0xfeed",
    });
    await rig.settle(seen);
    const before = (await checkout(id)).json;
    expect(before.pendingPayments).toEqual([
      {
        id: seen.id,
        amount: "10.5",
        sourceTransaction: "0xfeed",
        dateCreated: "2026-11-21T10:00:00.000Z",
        confirmations: null,
      },
    ]);
    expect(before.remainingAmount).toBe("25.5");

    await rig.settle({ ...seen, version: 2, status: "settled" });
    const after = (await checkout(id)).json;
    expect(after).toMatchObject({
      pendingPayments: [],
      receivedAmount: "10.5",
      remainingAmount: "15",
      currentUsage: 1,
      instructions: { amount: "15", amountBaseUnits: "15000000" },
    });
  });

  test("shows a payment that its chain took back no more, until it comes again (rule CHAIN-24)", async () => {
    const id = await open();
    const seen = sampleSettlement(id, { status: "processing", blockNumber: null });
    const pendingCount = async () => (await checkout(id)).json.pendingPayments.length;
    await rig.settle(seen);
    expect(await pendingCount()).toBe(1);
    await rig.settle({ ...seen, version: 2, isOrphaned: true });
    expect(await pendingCount()).toBe(0);
    await rig.settle({ ...seen, version: 3, isOrphaned: false, blockNumber: 7 });
    expect(await pendingCount()).toBe(1);
    await rig.settle({ ...seen, version: 4, status: "settled", isOrphaned: false });
    expect((await checkout(id)).json).toMatchObject({ pendingPayments: [], currentUsage: 1 });
  });

  test("shows no payment on its way that cannot count, however it will end, and as many others", async () => {
    const id = await open();
    const onChain = (
      more: Partial<Parameters<typeof sampleSettlement>[1]>,
      transactionHash: string,
    ) => {
      const names = sampleChainNames({ chainId: "8453", transactionHash, linkId: id });
      return sampleSettlement(id, { ...names, status: "processing", ...more });
    };
    const own = onChain({ destinationAddress: shopAddress.toLowerCase() }, `0x${"a".repeat(64)}`);
    const astray = { destinationAddress: "0x8617E340B3D01FA5F11F306F4090FD50E238070D" };
    const ofAnother = { tokenAddress: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42" };
    // By a provider's first word: its last may tell another destination.
    const told = sampleSettlement(id, { ...astray, status: "processing" });
    const firstSeenAt = new Date(rig.clock.now().getTime() + 1);
    const newer = Array.from({ length: 11 }, (_, count) =>
      onChain({ ...(count % 2 === 0 ? astray : ofAnother), firstSeenAt }, `0x${count}`),
    );
    const pageSays = async (url: string): Promise<string | undefined> => {
      const { text } = await rig.call(new URL(url).pathname);
      return /<p id="live"[^>]*>([^]*?)<\/p>/.exec(text)?.[1]?.trim();
    };
    await rig.settle(...newer);
    const { pendingPayments, url } = (await checkout(id)).json;
    expect([pendingPayments, await pageSays(url)]).toEqual([[], ""]);
    await rig.settle(own, told);
    const ids = (await checkout(id)).json.pendingPayments.map((one: { id: string }) => one.id);
    expect(ids.toSorted()).toEqual([own.id, told.id].toSorted());
    expect(await pageSays(url)).toContain("Do not pay again.");
  });

  test("tells of a larger payment on its way that it needs more blocks, where its chain says so", async () => {
    const id = await open();
    const chainId = newId("evt");
    const seen = (amount: string) =>
      sampleSettlement(id, { status: "processing", chainId, blockNumber: 100, amount });
    const [small, large] = [seen("0.99"), seen("1")];
    await rig.settle(small, large);
    const at = rig.clock.now();
    const neededByAmount = [{ from: new Decimal("1"), blocks: 2 }];
    await rig.advance({
      chainId,
      headBlock: 101,
      settledTo: 101,
      neededBlocks: 0,
      neededByAmount,
      at,
    });
    const { pendingPayments } = (await checkout(id)).json;
    const confirmationsOf = (paymentId: string) =>
      pendingPayments.find((one: { id: string }) => one.id === paymentId).confirmations;
    expect(confirmationsOf(large.id)).toEqual({ seen: 1, needed: 2 });
    expect(confirmationsOf(small.id)).toEqual({ seen: 1, needed: 1 });
  });

  test("tells of each payment on its way how many blocks lie on top of its own", async () => {
    const id = await open();
    const chainId = newId("evt");
    const seen = (blockNumber: number | null, more: object = {}) =>
      sampleSettlement(id, { status: "processing", chainId, blockNumber, ...more });
    const [here, unmined, elsewhere] = [seen(100), seen(null), seen(100, { chainId: "1" })];
    await rig.settle(here, unmined, elsewhere);
    const confirmations = async () => {
      const { pendingPayments } = (await checkout(id)).json;
      const shown = new Map(
        pendingPayments.map((one: { id: string; confirmations: unknown }) => [
          one.id,
          one.confirmations,
        ]),
      );
      return [here, unmined, elsewhere].map((payment) => shown.get(payment.id));
    };
    expect(await confirmations()).toEqual([null, null, null]);
    const at = rig.clock.now();
    await rig.advance({ chainId, headBlock: 103, settledTo: 91, neededBlocks: 12, at });
    await rig.advance({ chainId, headBlock: 102, settledTo: 90, neededBlocks: 12, at });
    expect(await confirmations()).toEqual([{ seen: 3, needed: 12 }, null, null]);
  });

  test("given a transaction, tells what became of the payment in it, and null while it is unknown", async () => {
    const linkId = await open();
    const transactionHash = `0x${"ab".repeat(32)}`;
    const ask = async (hash: string) => (await checkout(linkId, `?sourceTransaction=${hash}`)).json;
    expect((await ask(transactionHash)).payment).toBeNull();
    const names = sampleChainNames({ chainId: "8453", transactionHash, linkId });
    const { id } = names;
    await rig.settle(sampleSettlement(linkId, { ...names, status: "processing", amount: "5" }));
    const shown = (await ask(transactionHash.toUpperCase().replace("0X", "0x"))).payment;
    expect(shown).toEqual((await rig.call(`/checkout/transactions/${id}`)).json);
    expect(shown).toMatchObject({ id, status: "processing", amount: "5" });
    expect((await ask("nonsense")).payment).toBeNull();
    expect((await ask("a".repeat(101))).errors[0].code).toBe("string_too_long");
  });

  test("given more payments on their way than it shows, shows the newest ten", async () => {
    const id = await open();
    for (let count = 0; count < 12; count += 1) {
      const firstSeenAt = new Date(rig.clock.now().getTime() + count);
      await rig.settle(sampleSettlement(id, { status: "processing", firstSeenAt }));
    }
    const { pendingPayments } = (await checkout(id)).json;
    expect(pendingPayments).toHaveLength(10);
    expect(pendingPayments[0].dateCreated).toBe("2026-11-21T10:00:00.011Z");
  });

  test("given another amount, tells how that is paid", async () => {
    const { json } = await checkout(await open(), "?amount=30.25");
    expect(json.instructions).toMatchObject({ amount: "30.25", amountBaseUnits: "30250000" });
    expect(json.remainingAmount).toBe("25.5");
  });

  test.each([
    ["?amount=0", "greater_than"],
    ["?amount=-1", "greater_than"],
    ["?amount=", "decimal_parsing"],
    ["?amount=ten", "decimal_parsing"],
    ["?amount=NaN", "finite_number"],
    ["?amount=1&amount=2", "decimal_type"],
    ["?amount=1e80", "decimal_max_digits"],
    ["?amount=0.0000001", "INVALID_PAYMENT_LINK_AMOUNT"],
    [`?amount=${"9".repeat(72)}`, "decimal_max_digits"],
  ])("given %s, answers 422 %s", async (query, code) => {
    const answer = await checkout(await open(), query);
    expect([answer.status, answer.json.errors[0].code]).toEqual([422, code]);
  });

  test("given a link that takes no payments, tells why, and no reference (rule CHAIN-11)", async () => {
    const account = sampleAccount();
    const key = rig.giveKey(account);
    const completed = await rig.createLink(key, { toAmount: "1" });
    await rig.settle(sampleSettlement(completed, { amount: "1" }));
    const deactivated = await rig.createLink(key, { toAmount: "1" });
    await rig.call(`/console/api/payment-links/${deactivated}/deactivate`, {
      method: "POST",
      headers: rig.giveSession(account),
    });
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const expired = await rig.createLink(key, { toAmount: "1", expirationDate });
    rig.clock.advance(1000);
    for (const [id, status, reason] of [
      [completed, "completed", "completed"],
      [deactivated, "inactive", "inactive"],
      [expired, "inactive", "expired"],
    ] as const) {
      const { json, text } = await checkout(id);
      expect(json).toMatchObject({ status, reason, instructions: null });
      const [created] = await rig.eventsOf(id);
      expect(text).not.toContain(created?.data.link.paymentReference);
    }
  });

  test.each(["plink_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"])(
    "given %s, of which nothing is known, answers 404",
    async (id) => {
      const { status, json } = await checkout(id);
      expect(status).toBe(404);
      expect(json).toMatchObject({ errors: [{ code: "CANNOT_FIND_PAYMENT_LINK" }] });
    },
  );
});

describe("a service that watches no chain", () => {
  test("tells so, and tells nobody a reference (rule CHAIN-11)", async () => {
    const other = await openRig();
    try {
      const id = await other.createLink(other.giveKey(sampleAccount()), { toAmount: "1" });
      const { json } = await other.call(`/checkout/payment-links/${id}`);
      expect(json).toMatchObject({ instructions: null, reason: "chain_not_watched" });
    } finally {
      await other.close();
    }
  });
});

describe("GET /checkout/transactions/:id", () => {
  test("follows a payment from its first sight to its settlement", async () => {
    const id = await open();
    const payment = sampleSettlement(id, {
      amount: "25.5",
      status: "processing",
      sourceTransaction: "0xfeed",
    });
    await rig.settle(payment);
    const path = `/checkout/transactions/${payment.id}`;
    const seen = await rig.call(path);
    expect(seen.json).toEqual({
      id: payment.id,
      paymentLinkId: id,
      status: "processing",
      applied: false,
      reason: null,
      amount: "25.5",
      tokenAddress: usdcOnBase.tokenAddress,
      chainId: "8453",
      sourceTransaction: "0xfeed",
      dateCreated: "2026-11-21T10:00:00.000Z",
      transactionUrl: null,
    });
    await rig.settle({ ...payment, version: 2, status: "settled" });
    expect((await rig.call(path)).json).toMatchObject({
      status: "settled",
      applied: true,
      reason: null,
      transactionUrl: `https://pay.example/tx/${payment.id}`,
    });
  });

  test("given a payment that failed, or does not count, says so, and why", async () => {
    const id = await open();
    const failed = sampleSettlement(id, { status: "failed" });
    const wrong = sampleSettlement(id, { chainId: "1" });
    await rig.settle(failed);
    await rig.settle(wrong);
    expect((await rig.call(`/checkout/transactions/${failed.id}`)).json).toMatchObject({
      status: "failed",
      applied: false,
      reason: null,
    });
    expect((await rig.call(`/checkout/transactions/${wrong.id}`)).json).toMatchObject({
      status: "settled",
      applied: false,
      reason: "wrong_token",
      transactionUrl: null,
    });
  });

  test.each(["x", newId("tx"), newId("plink")])("given %s, answers 404", async (id) => {
    const answer = await rig.call(`/checkout/transactions/${id}`);
    expect([answer.status, answer.json.errors[0].code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("the calls of the checkout", () => {
  test("are limited per address", async () => {
    const limit = { tokensPerSecond: 0.001, burst: 2 };
    const limited = await openRig({ limits: { perKey: limit, perAddress: limit } });
    try {
      const paths = [
        "/checkout/payment-links/x",
        "/checkout/transactions/x",
        "/checkout/payment-links/x",
      ];
      const statuses = [];
      for (const path of paths) statuses.push((await limited.call(path)).status);
      expect(statuses).toEqual([404, 404, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe("the checkout of a suspended account", () => {
  test("takes no payment and says so; what is paid all the same counts, and is told (rule CALLER-17)", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.giveKey(account), { toAmount: "25.5" });
    expect((await checkout(id)).json.instructions).not.toBeNull();
    await rig.hear({ ...account, version: 2, isSuspended: true });

    const { instructions, reason, status } = (await checkout(id)).json;
    expect([instructions, reason, status]).toEqual([null, "account_suspended", "active"]);
    const page = await rig.call(`/@${account.handle}/pay/${id}`);
    expect(page.text).toContain("takes no payments right now. Do not send anything to it.");
    expect(page.text).not.toContain("Payment contract");
    expect((await rig.retrieve(id)).status).toBe("active");

    await rig.settle(sampleSettlement(id, { amount: "25.5" }));
    const types = (await rig.eventsOf(id)).map(({ type }) => type);
    expect(types.slice(1)).toEqual([
      "payment_link.transaction.succeeded",
      "payment_link.completed",
    ]);
    expect((await checkout(id)).json.reason).toBe("completed");

    const other = await rig.createLink(rig.giveKey({ ...account, version: 2 }), { toAmount: "1" });
    await rig.hear({ ...account, version: 3, isSuspended: false });
    expect((await checkout(other)).json.instructions).not.toBeNull();
  });
});
