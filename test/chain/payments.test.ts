import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type PaymentSystem, createPaymentSystem } from "../rig/payment-system.ts";
import {
  createAppliedPayment,
  createProcessingPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";

const baseUnitsOf6Decimals = 1_000_000n;
const baseUnitsOf18Decimals = 10n ** 18n;

describe("a payment on a real EVM node", () => {
  let chain: LocalEvmChain;
  let system: PaymentSystem;

  beforeAll(async () => {
    chain = await startEvmChain({ slotsInEpoch: 1 });
    system = await createPaymentSystem({ chain, settings: { finality: { blocks: 2 } } });
    await system.startWatcher();
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
  });

  test("is processing when first seen, and completes the link once its block is final", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * baseUnitsOf6Decimals });
    await chain.mine();
    const processingLink = await system.waitForLink(link.id, ({ payments }) => payments.length > 0);
    expect(processingLink).toEqual({
      ...unpaidLink,
      payments: [createProcessingPayment("25", hash)],
    });
    await chain.mine(2);
    const completedLink = await system.waitForLink(link.id, ({ status }) => status !== "active");
    expect(completedLink).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [createAppliedPayment("25", hash)],
    });
  });

  test("leaves the link active if it is partial, and the rest completes the link", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const firstHash = await chain.pay({ ...link, amount: 10n * baseUnitsOf6Decimals });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [createAppliedPayment("10", firstHash)],
    });
    await chain.pay({ ...link, amount: 15n * baseUnitsOf6Decimals });
    await system.settleAll();
    expect(await system.readLink(link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test("is credited in full if it is too high", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 30_000_001n });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "30.000001",
      payments: [createAppliedPayment("30.000001", hash)],
    });
  });

  test("counts as two payments if it is made twice with one reference, and the second one is late", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const firstHash = await chain.pay({ ...link, amount: 25n * baseUnitsOf6Decimals });
    await chain.mine();
    const secondHash = await chain.pay({ ...link, amount: 25n * baseUnitsOf6Decimals, payer: 1 });
    await system.settleAll();
    const { payments, ...otherFields } = await system.readLink(link.id);
    expect(otherFields).toEqual({ status: "completed", receivedAmount: "25" });
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(
      expect.arrayContaining([
        createAppliedPayment("25", firstHash),
        createUnappliedPayment("completed", "25", secondHash),
      ]),
    );
  });

  test("counts as two payments if it is made twice in one transaction, each with its own amount", async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.payInOneTransaction([
      { ...link, amount: 10n * baseUnitsOf6Decimals },
      { ...link, amount: 7n * baseUnitsOf6Decimals },
    ]);
    await system.settleAll();
    const { payments, ...otherFields } = await system.readLink(link.id);
    expect(otherFields).toEqual({ status: "active", receivedAmount: "17" });
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(
      expect.arrayContaining([createAppliedPayment("10", hash), createAppliedPayment("7", hash)]),
    );
  });

  test("counts each transfer once if one transaction has two of the same amount", async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.payInOneTransaction([
      { ...link, amount: 10n * baseUnitsOf6Decimals },
      { ...link, amount: 10n * baseUnitsOf6Decimals },
    ]);
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "20",
      payments: [createAppliedPayment("10", hash), createAppliedPayment("10", hash)],
    });
  });

  test("in the wrong token is stored and not applied", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * baseUnitsOf6Decimals, token: "other6" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      ...unpaidLink,
      payments: [createUnappliedPayment("wrong_token", "25", hash)],
    });
  });

  test("in a token outside the catalogue changes nothing", async () => {
    const link = await system.createLink({ toAmount: "25" });
    await chain.pay({ ...link, amount: 25n * baseUnitsOf6Decimals, token: "unlisted" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  test("to the wrong destination is stored and not applied", async () => {
    const link = await system.createLink({ toAmount: "25" });
    const to = "0x2222222222222222222222222222222222222222";
    const hash = await chain.pay({ ...link, to, amount: 25n * baseUnitsOf6Decimals });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      ...unpaidLink,
      payments: [createUnappliedPayment("wrong_destination", "25", hash)],
    });
  });

  test("through a fake proxy changes nothing", async () => {
    const link = await system.createLink({ toAmount: "25" });
    await chain.payFakeProxy({ ...link, amount: 25n * baseUnitsOf6Decimals });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  test("of 0 is ignored, and of one base unit completes a single-use link (rule STATE-11)", async () => {
    const link = await system.createLink({ toAmount: "25", maxUsage: 1 });
    await chain.pay({ ...link, amount: 0n });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
    const hash = await chain.pay({ ...link, amount: 1n });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "0.000001",
      payments: [createAppliedPayment("0.000001", hash)],
    });
  });

  test("in a token that charges a fee is credited with the received amount", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "fee" });
    const hash = await chain.pay({ ...link, amount: 100n * baseUnitsOf6Decimals, token: "fee" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "99",
      payments: [createAppliedPayment("99", hash)],
    });
  });

  test("in a token whose transfer moves nothing changes nothing", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "idle" });
    await chain.pay({ ...link, amount: 100n * baseUnitsOf6Decimals, token: "idle" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  test("in a token whose transfer returns no value is applied", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "silent" });
    const hash = await chain.pay({ ...link, amount: 100n * baseUnitsOf6Decimals, token: "silent" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "100",
      payments: [createAppliedPayment("100", hash)],
    });
  });

  test("in a token of 18 decimals is exact to the last digit", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "coin18" });
    const almostFullHash = await chain.pay({
      ...link,
      amount: 100n * baseUnitsOf18Decimals - 1n,
      token: "coin18",
    });
    await system.settleAll();
    const almostFullAmount = "99.999999999999999999";
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: almostFullAmount,
      payments: [createAppliedPayment(almostFullAmount, almostFullHash)],
    });
    await chain.pay({ ...link, amount: 1n, token: "coin18" });
    await system.settleAll();
    expect(await system.readLink(link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "100",
    });
  });

  test("in the chain's native coin is applied from the proxy's event", async () => {
    const link = await system.createLink({ toAmount: "2", tokenId: "coin" });
    const hash = await chain.payCoin({ ...link, amount: 2n * baseUnitsOf18Decimals });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "2",
      payments: [createAppliedPayment("2", hash)],
    });
  });

  test("to an account that the token's issuer has blocked fails and is not recorded", async () => {
    const link = await system.createLink({ toAmount: "100", tokenId: "blocking" });
    await chain.blockAccount(link.to);
    await chain.mine();
    const hash = await chain.pay({
      ...link,
      amount: 100n * baseUnitsOf6Decimals,
      token: "blocking",
    });
    await system.settleAll();
    const receipt = await chain.client.getTransactionReceipt({ hash });
    expect(receipt.status).toBe("reverted");
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  // This test comes last, because it advances the chain's time permanently.
  test("seen after the expiry is applied if its block is a second before the expiry, and late if it is at the expiry (rule STATE-15)", async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
    const expirationDate = new Date(expiresAt * 1000).toISOString();
    const inTimeLink = await system.createLink({ toAmount: "25", expirationDate });
    const lateLink = await system.createLink({ toAmount: "25", expirationDate });
    system.advanceClock(3_601_000);
    const firstHash = await chain.pay({ ...inTimeLink, amount: 25n * baseUnitsOf6Decimals });
    await chain.setNextBlockTime(expiresAt - 1);
    await chain.mine();
    const secondHash = await chain.pay({ ...lateLink, amount: 25n * baseUnitsOf6Decimals });
    await chain.setNextBlockTime(expiresAt);
    await chain.mine();
    await system.settleAll();
    expect(await system.readLink(inTimeLink.id)).toMatchObject({
      status: "completed",
      payments: [createAppliedPayment("25", firstHash)],
    });
    expect(await system.readLink(lateLink.id)).toMatchObject({
      ...unpaidLink,
      status: "inactive",
      payments: [createUnappliedPayment("expired", "25", secondHash)],
    });
  });
});
