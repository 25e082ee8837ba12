import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { counted, processing, uncounted, untouched } from "../rig/shown-payments.ts";

const units6 = 1_000_000n;
const units18 = 10n ** 18n;

describe("a payment on a real EVM node, and what its link shows afterwards", () => {
  let chain: Chain;
  let system: PaymentSystem;

  beforeAll(async () => {
    chain = await openChain({ slotsInEpoch: 1 });
    system = await openPaymentSystem({ chain, settings: { finality: { blocks: 2 } } });
    await system.startWatcher();
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
  });

  test("is processing once seen, and completes the link once its block is final", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * units6 });
    await chain.mine();
    const seen = await system.showWhen(link.id, ({ payments }) => payments.length > 0);
    expect(seen).toEqual({ ...untouched, payments: [processing("25", hash)] });
    await chain.mine(2);
    const paid = await system.showWhen(link.id, ({ status }) => status !== "active");
    expect(paid).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [counted("25", hash)],
    });
  });

  test("of a part leaves the link active, and the rest completes it", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const first = await chain.pay({ ...link, amount: 10n * units6 });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [counted("10", first)],
    });
    await chain.pay({ ...link, amount: 15n * units6 });
    await system.settleAll();
    expect(await system.show(link.id)).toMatchObject({ status: "completed", receivedAmount: "25" });
  });

  test("of too much is credited whole", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 30_000_001n });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "30.000001",
      payments: [counted("30.000001", hash)],
    });
  });

  test("made twice with one reference is two payments, of which the second came too late", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const first = await chain.pay({ ...link, amount: 25n * units6 });
    await chain.mine();
    const second = await chain.pay({ ...link, amount: 25n * units6, payer: 1 });
    await system.settleAll();
    const { payments, ...rest } = await system.show(link.id);
    expect(rest).toEqual({ status: "completed", receivedAmount: "25" });
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(
      expect.arrayContaining([counted("25", first), uncounted("completed", "25", second)]),
    );
  });

  test("made twice in one transaction is two payments, each with its own money", async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.payTogether([
      { ...link, amount: 10n * units6 },
      { ...link, amount: 7n * units6 },
    ]);
    await system.settleAll();
    const { payments, ...rest } = await system.show(link.id);
    expect(rest).toEqual({ status: "active", receivedAmount: "17" });
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(expect.arrayContaining([counted("10", hash), counted("7", hash)]));
  });

  test("twice of one amount in one transaction counts each transfer once", async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.payTogether([
      { ...link, amount: 10n * units6 },
      { ...link, amount: 10n * units6 },
    ]);
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "20",
      payments: [counted("10", hash), counted("10", hash)],
    });
  });

  test("in the wrong token is kept and not counted", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * units6, token: "other6" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      ...untouched,
      payments: [uncounted("wrong_token", "25", hash)],
    });
  });

  test("in a token that no catalogue knows changes nothing", async () => {
    const link = await system.createLink({ toAmount: "25" });
    await chain.pay({ ...link, amount: 25n * units6, token: "unlisted" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
  });

  test("to the wrong destination is kept and not counted", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const to = "0x2222222222222222222222222222222222222222";
    const hash = await chain.pay({ ...link, to, amount: 25n * units6 });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      ...untouched,
      payments: [uncounted("wrong_destination", "25", hash)],
    });
  });

  test("through a fake proxy changes nothing", async () => {
    const link = await system.createLink({ toAmount: "25" });
    await chain.payFakeProxy({ ...link, amount: 25n * units6 });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
  });

  test("of 0 is no payment; of one base unit it is, and uses up a link of one use (rule STATE-11)", async () => {
    const link = await system.createLink({ toAmount: "25", maxUsage: 1 });
    await chain.pay({ ...link, amount: 0n });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
    const hash = await chain.pay({ ...link, amount: 1n });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "0.000001",
      payments: [counted("0.000001", hash)],
    });
  });

  test("in a token that takes a fee counts for what arrived", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "fee" });
    const hash = await chain.pay({ ...link, amount: 100n * units6, token: "fee" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "99",
      payments: [counted("99", hash)],
    });
  });

  test("in a token that moves nothing changes nothing", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "idle" });
    await chain.pay({ ...link, amount: 100n * units6, token: "idle" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
  });

  test("in a token that returns no value counts", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "silent" });
    const hash = await chain.pay({ ...link, amount: 100n * units6, token: "silent" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "100",
      payments: [counted("100", hash)],
    });
  });

  test("in a token of 18 decimals is exact to the last", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "coin18" });
    const almost = await chain.pay({ ...link, amount: 100n * units18 - 1n, token: "coin18" });
    await system.settleAll();
    const received = "99.999999999999999999";
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: received,
      payments: [counted(received, almost)],
    });
    await chain.pay({ ...link, amount: 1n, token: "coin18" });
    await system.settleAll();
    expect(await system.show(link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "100",
    });
  });

  test("in the chain's own coin counts by the proxy's event", async () => {
    const link = await system.createLink({ toAmount: "2", tokenId: "coin" });
    const hash = await chain.payCoin({ ...link, amount: 2n * units18 });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "2",
      payments: [counted("2", hash)],
    });
  });

  test("to an account that the token's issuer has blocked fails, and nothing is recorded", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "blocking" });
    await chain.blockAccount(link.to);
    await chain.mine();
    const hash = await chain.pay({ ...link, amount: 100n * units6, token: "blocking" });
    await system.settleAll();
    const receipt = await chain.client.getTransactionReceipt({ hash });
    expect(receipt.status).toBe("reverted");
    expect(await system.show(link.id)).toEqual(untouched);
  });

  // The last test: it moves the time, which does not go back.
  test("is late if it is seen after the expiry: a second before it by the chain's time counts, at it does not (rule STATE-15)", async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
    const expirationDate = new Date(expiresAt * 1000).toISOString();
    const inTime = await system.createLink({ toAmount: "25", expirationDate });
    const late = await system.createLink({ toAmount: "25", expirationDate });
    system.passTime(3_601_000);
    const first = await chain.pay({ ...inTime, amount: 25n * units6 });
    await chain.setTime(expiresAt - 1);
    await chain.mine();
    const second = await chain.pay({ ...late, amount: 25n * units6 });
    await chain.setTime(expiresAt);
    await chain.mine();
    await system.settleAll();
    expect(await system.show(inTime.id)).toMatchObject({
      status: "completed",
      payments: [counted("25", first)],
    });
    expect(await system.show(late.id)).toMatchObject({
      ...untouched,
      status: "inactive",
      payments: [uncounted("expired", "25", second)],
    });
  });
});
