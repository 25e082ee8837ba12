import { describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import {
  sampleAccount,
  samplePaymentIdentity,
  sampleSettlement,
  shopAddress,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(() => createRig({ settlementChains: ["8453"] }));

const createLink = (body: object = {}) =>
  rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "25.5", ...body });

const fetchCheckout = (id: string, query = "") => rig.call(`/checkout/payment-links/${id}${query}`);

describe("GET /checkout/payment-links/:id (rule CHAIN-10)", () => {
  test("returns amount, destination, reference and status to anyone", async () => {
    const id = await createLink({ maxUsage: 3, expirationDate: "2026-12-24T18:00:00Z" });
    const response = await fetchCheckout(id);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { url, token, instructions, ...otherFields } = response.json;
    expect(otherFields).toEqual({
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
    const [createdEvent] = await rig.listEvents(id);
    expect(instructions).toMatchObject({
      amount: "25.5",
      amountBaseUnits: "25500000",
      proxyAddress: "0x1892196E80C4c17ea5100Da765Ab48c1fE2Fb814",
      paymentReference: `0x${createdEvent?.data.link.paymentReference}`,
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
        data: expect.stringContaining(createdEvent?.data.link.paymentReference),
      },
    ]);
  });

  test("returns pending payments, and requests the remaining amount after they settle", async () => {
    const id = await createLink();
    const pendingSettlement = sampleSettlement(id, {
      amount: "10.5",
      status: "processing",
      sourceTransaction: "0xfeed",
    });
    await rig.settle(pendingSettlement);
    const checkoutBefore = (await fetchCheckout(id)).json;
    expect(checkoutBefore.pendingPayments).toEqual([
      {
        id: pendingSettlement.id,
        amount: "10.5",
        sourceTransaction: "0xfeed",
        dateCreated: "2026-11-21T10:00:00.000Z",
        confirmations: null,
      },
    ]);
    expect(checkoutBefore.remainingAmount).toBe("25.5");

    await rig.settle({ ...pendingSettlement, version: 2, status: "settled" });
    const checkoutAfter = (await fetchCheckout(id)).json;
    expect(checkoutAfter).toMatchObject({
      pendingPayments: [],
      receivedAmount: "10.5",
      remainingAmount: "15",
      currentUsage: 1,
      instructions: { amount: "15", amountBaseUnits: "15000000" },
    });
  });

  test("omits an orphaned payment until its chain has it again (rule CHAIN-24)", async () => {
    const id = await createLink();
    const pendingSettlement = sampleSettlement(id, { status: "processing", blockNumber: null });
    const countPending = async () => (await fetchCheckout(id)).json.pendingPayments.length;
    await rig.settle(pendingSettlement);
    expect(await countPending()).toBe(1);
    await rig.settle({ ...pendingSettlement, version: 2, isOrphaned: true });
    expect(await countPending()).toBe(0);
    await rig.settle({ ...pendingSettlement, version: 3, isOrphaned: false, blockNumber: 7 });
    expect(await countPending()).toBe(1);
    await rig.settle({ ...pendingSettlement, version: 4, status: "settled", isOrphaned: false });
    expect((await fetchCheckout(id)).json).toMatchObject({ pendingPayments: [], currentUsage: 1 });
  });

  test("omits pending payments that can never be applied, however many there are", async () => {
    const id = await createLink();
    const createChainPayment = (
      overrides: Partial<Parameters<typeof sampleSettlement>[1]>,
      transactionHash: string,
    ) => {
      const identity = samplePaymentIdentity({ chainId: "8453", transactionHash, linkId: id });
      return sampleSettlement(id, { ...identity, status: "processing", ...overrides });
    };
    const ownPayment = createChainPayment(
      { destinationAddress: shopAddress.toLowerCase() },
      `0x${"a".repeat(64)}`,
    );
    const otherDestination = { destinationAddress: "0x8617E340B3D01FA5F11F306F4090FD50E238070D" };
    const otherToken = { tokenAddress: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42" };
    // This is a provider's first notice. The final notice can name another destination.
    const providerNotice = sampleSettlement(id, { ...otherDestination, status: "processing" });
    const firstSeenAt = new Date(rig.clock.now().getTime() + 1);
    const newerPayments = Array.from({ length: 11 }, (_, count) =>
      createChainPayment(
        { ...(count % 2 === 0 ? otherDestination : otherToken), firstSeenAt },
        `0x${count}`,
      ),
    );
    const readPageStatus = async (url: string): Promise<string | undefined> => {
      const { text } = await rig.call(new URL(url).pathname);
      return /<p id="live"[^>]*>([^]*?)<\/p>/.exec(text)?.[1]?.trim();
    };
    await rig.settle(...newerPayments);
    const { pendingPayments, url } = (await fetchCheckout(id)).json;
    expect([pendingPayments, await readPageStatus(url)]).toEqual([[], ""]);
    await rig.settle(ownPayment, providerNotice);
    const ids = (await fetchCheckout(id)).json.pendingPayments.map(
      (payment: { id: string }) => payment.id,
    );
    expect(ids.toSorted()).toEqual([ownPayment.id, providerNotice.id].toSorted());
    expect(await readPageStatus(url)).toContain("Do not pay again.");
  });

  test("returns more needed blocks for a larger pending payment if the chain requires them", async () => {
    const id = await createLink();
    const chainId = newId("evt");
    const createPending = (amount: string) =>
      sampleSettlement(id, { status: "processing", chainId, blockNumber: 100, amount });
    const [smallPayment, largePayment] = [createPending("0.99"), createPending("1")];
    await rig.settle(smallPayment, largePayment);
    const at = rig.clock.now();
    const neededByAmount = [{ from: new Decimal("1"), blocks: 2 }];
    await rig.receiveChainAdvance({
      chainId,
      headBlock: 101,
      settledTo: 101,
      neededBlocks: 0,
      neededByAmount,
      at,
    });
    const { pendingPayments } = (await fetchCheckout(id)).json;
    const getConfirmations = (paymentId: string) =>
      pendingPayments.find((payment: { id: string }) => payment.id === paymentId).confirmations;
    expect(getConfirmations(largePayment.id)).toEqual({ seen: 1, needed: 2 });
    expect(getConfirmations(smallPayment.id)).toEqual({ seen: 1, needed: 1 });
  });

  test("returns the confirmations of each pending payment", async () => {
    const id = await createLink();
    const chainId = newId("evt");
    const createPending = (blockNumber: number | null, overrides: object = {}) =>
      sampleSettlement(id, { status: "processing", chainId, blockNumber, ...overrides });
    const [paymentInBlock, paymentInMempool, otherChainPayment] = [
      createPending(100),
      createPending(null),
      createPending(100, { chainId: "1" }),
    ];
    await rig.settle(paymentInBlock, paymentInMempool, otherChainPayment);
    const readConfirmations = async () => {
      const { pendingPayments } = (await fetchCheckout(id)).json;
      const confirmationsById = new Map(
        pendingPayments.map((payment: { id: string; confirmations: unknown }) => [
          payment.id,
          payment.confirmations,
        ]),
      );
      return [paymentInBlock, paymentInMempool, otherChainPayment].map((payment) =>
        confirmationsById.get(payment.id),
      );
    };
    expect(await readConfirmations()).toEqual([null, null, null]);
    const at = rig.clock.now();
    await rig.receiveChainAdvance({ chainId, headBlock: 103, settledTo: 91, neededBlocks: 12, at });
    await rig.receiveChainAdvance({ chainId, headBlock: 102, settledTo: 90, neededBlocks: 12, at });
    expect(await readConfirmations()).toEqual([{ seen: 3, needed: 12 }, null, null]);
  });

  test("given a transaction hash, returns its payment, or null while it is unknown", async () => {
    const linkId = await createLink();
    const transactionHash = `0x${"ab".repeat(32)}`;
    const fetchWithTransaction = async (hash: string) =>
      (await fetchCheckout(linkId, `?sourceTransaction=${hash}`)).json;
    expect((await fetchWithTransaction(transactionHash)).payment).toBeNull();
    const identity = samplePaymentIdentity({ chainId: "8453", transactionHash, linkId });
    const { id } = identity;
    await rig.settle(sampleSettlement(linkId, { ...identity, status: "processing", amount: "5" }));
    const paymentResponse = (
      await fetchWithTransaction(transactionHash.toUpperCase().replace("0X", "0x"))
    ).payment;
    expect(paymentResponse).toEqual((await rig.call(`/checkout/transactions/${id}`)).json);
    expect(paymentResponse).toMatchObject({ id, status: "processing", amount: "5" });
    expect((await fetchWithTransaction("nonsense")).payment).toBeNull();
    expect((await fetchWithTransaction("a".repeat(101))).errors[0].code).toBe("string_too_long");
  });

  test("returns only the newest ten pending payments", async () => {
    const id = await createLink();
    for (let count = 0; count < 12; count += 1) {
      const firstSeenAt = new Date(rig.clock.now().getTime() + count);
      await rig.settle(sampleSettlement(id, { status: "processing", firstSeenAt }));
    }
    const { pendingPayments } = (await fetchCheckout(id)).json;
    expect(pendingPayments).toHaveLength(10);
    expect(pendingPayments[0].dateCreated).toBe("2026-11-21T10:00:00.011Z");
  });

  test("given a different amount, returns instructions for it", async () => {
    const { json } = await fetchCheckout(await createLink(), "?amount=30.25");
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
  ])("given %s, returns 422 %s", async (query, code) => {
    const response = await fetchCheckout(await createLink(), query);
    expect([response.status, response.json.errors[0].code]).toEqual([422, code]);
  });

  test("given a link that takes no payments, returns the reason and no reference (rule CHAIN-11)", async () => {
    const account = sampleAccount();
    const keyHeaders = rig.createKeyHeaders(account);
    const completedId = await rig.createLink(keyHeaders, { toAmount: "1" });
    await rig.settle(sampleSettlement(completedId, { amount: "1" }));
    const deactivatedId = await rig.createLink(keyHeaders, { toAmount: "1" });
    await rig.call(`/console/api/payment-links/${deactivatedId}/deactivate`, {
      method: "POST",
      headers: rig.createSessionHeaders(account),
    });
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const expiredId = await rig.createLink(keyHeaders, { toAmount: "1", expirationDate });
    rig.clock.advance(1000);
    for (const [id, status, reason] of [
      [completedId, "completed", "completed"],
      [deactivatedId, "inactive", "inactive"],
      [expiredId, "inactive", "expired"],
    ] as const) {
      const { json, text } = await fetchCheckout(id);
      expect(json).toMatchObject({ status, reason, instructions: null });
      const [createdEvent] = await rig.listEvents(id);
      expect(text).not.toContain(createdEvent?.data.link.paymentReference);
    }
  });

  test.each(["plink_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"])(
    "given the unknown id %s, returns 404",
    async (id) => {
      const { status, json } = await fetchCheckout(id);
      expect(status).toBe(404);
      expect(json).toMatchObject({ errors: [{ code: "CANNOT_FIND_PAYMENT_LINK" }] });
    },
  );
});

describe("a service that watches no chain", () => {
  test("reports that and returns no payment reference (rule CHAIN-11)", async () => {
    const otherRig = await createRig();
    try {
      const id = await otherRig.createLink(otherRig.createKeyHeaders(sampleAccount()), {
        toAmount: "1",
      });
      const { json } = await otherRig.call(`/checkout/payment-links/${id}`);
      expect(json).toMatchObject({ instructions: null, reason: "chain_not_watched" });
    } finally {
      await otherRig.close();
    }
  });
});

describe("GET /checkout/transactions/:id", () => {
  test("follows a payment from its first report to its settlement", async () => {
    const id = await createLink();
    const payment = sampleSettlement(id, {
      amount: "25.5",
      status: "processing",
      sourceTransaction: "0xfeed",
    });
    await rig.settle(payment);
    const path = `/checkout/transactions/${payment.id}`;
    const transactionResponse = await rig.call(path);
    expect(transactionResponse.json).toEqual({
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

  test("returns the status of a failed payment and the reason of an unapplied one", async () => {
    const id = await createLink();
    const failedPayment = sampleSettlement(id, { status: "failed" });
    const wrongTokenPayment = sampleSettlement(id, { chainId: "1" });
    await rig.settle(failedPayment);
    await rig.settle(wrongTokenPayment);
    expect((await rig.call(`/checkout/transactions/${failedPayment.id}`)).json).toMatchObject({
      status: "failed",
      applied: false,
      reason: null,
    });
    expect((await rig.call(`/checkout/transactions/${wrongTokenPayment.id}`)).json).toMatchObject({
      status: "settled",
      applied: false,
      reason: "wrong_token",
      transactionUrl: null,
    });
  });

  test.each(["x", newId("tx"), newId("plink")])("given %s, returns 404", async (id) => {
    const response = await rig.call(`/checkout/transactions/${id}`);
    expect([response.status, response.json.errors[0].code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("checkout requests", () => {
  test("are rate limited per IP address", async () => {
    const limit = { tokensPerSecond: 0.001, burst: 2 };
    const limitedRig = await createRig({ limits: { perKey: limit, perAddress: limit } });
    try {
      const paths = [
        "/checkout/payment-links/x",
        "/checkout/transactions/x",
        "/checkout/payment-links/x",
      ];
      const statuses = [];
      for (const path of paths) statuses.push((await limitedRig.call(path)).status);
      expect(statuses).toEqual([404, 404, 429]);
    } finally {
      await limitedRig.close();
    }
  });
});

describe("the checkout of a suspended account", () => {
  test("takes no payment and says so, but still applies and publishes a payment that arrives (rule CALLER-17)", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25.5" });
    expect((await fetchCheckout(id)).json.instructions).not.toBeNull();
    await rig.receiveAccount({ ...account, version: 2, isSuspended: true });

    const { instructions, reason, status } = (await fetchCheckout(id)).json;
    expect([instructions, reason, status]).toEqual([null, "account_suspended", "active"]);
    const page = await rig.call(`/@${account.handle}/pay/${id}`);
    expect(page.text).toContain("This payment link is on hold.");
    expect(page.text).toContain("Do not send anything to this link.");
    expect(page.text).not.toContain("Payment contract");
    expect((await rig.retrieve(id)).status).toBe("active");

    await rig.settle(sampleSettlement(id, { amount: "25.5" }));
    const types = (await rig.listEvents(id)).map(({ type }) => type);
    expect(types.slice(1)).toEqual([
      "payment_link.transaction.succeeded",
      "payment_link.completed",
    ]);
    expect((await fetchCheckout(id)).json.reason).toBe("completed");

    const otherLinkId = await rig.createLink(rig.createKeyHeaders({ ...account, version: 2 }), {
      toAmount: "1",
    });
    await rig.receiveAccount({ ...account, version: 3, isSuspended: false });
    expect((await fetchCheckout(otherLinkId)).json.instructions).not.toBeNull();
  });
});
