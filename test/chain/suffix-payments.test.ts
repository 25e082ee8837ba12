import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/settlement-listener/testing";
import {
  type LinkOptions,
  type PaymentSystem,
  createPaymentSystem,
} from "../rig/payment-system.ts";
import {
  createAppliedPayment,
  createProcessingPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";

const baseUnitsPerToken = 1_000_000n;
const finalityBlocks = 2;
/** One code, "wallet", of schema 0. */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

describe("a transfer that names its link by a suffix, and what its link shows afterwards", () => {
  let chain: LocalEvmChain;
  let system: PaymentSystem;

  beforeAll(async () => {
    chain = await startEvmChain({ slotsInEpoch: 4 });
    const settings = { finality: { blocks: finalityBlocks } };
    system = await createPaymentSystem({ chain, settings, watchesTransfers: true });
    await system.startWatcher();
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
  });

  /** A link whose owner's address the watcher knows. */
  const createLink = async (options: Partial<LinkOptions> = {}) => {
    const link = await system.createLink({ toAmount: "25", ...options });
    await system.waitForOwnerAddress(link.to);
    return link;
  };

  test("is processing once seen, and completes the link once its block is deep enough", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 25n * baseUnitsPerToken });
    await chain.mine();
    const processingLink = await system.waitForLink(link.id, ({ payments }) => payments.length > 0);
    expect(processingLink).toEqual({
      ...unpaidLink,
      payments: [createProcessingPayment("25", hash)],
    });
    await chain.mine(finalityBlocks);
    const completedLink = await system.waitForLink(link.id, ({ status }) => status !== "active");
    expect(completedLink).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [createAppliedPayment("25", hash)],
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test.each([
    ["in parts", [10n, 15n], "25"],
    ["too much", [30n], "30"],
  ])("%s counts as what arrived", async (_case, amounts, arrivedAmount) => {
    const link = await createLink();
    for (const amount of amounts)
      await chain.payBySuffix({ ...link, amount: amount * baseUnitsPerToken });
    await system.settleAll();
    expect(await system.readLink(link.id)).toMatchObject({
      status: "completed",
      receivedAmount: arrivedAmount,
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("made twice is two payments, of which the second came too late", async () => {
    const link = await createLink();
    const firstHash = await chain.payBySuffix({ ...link, amount: 25n * baseUnitsPerToken });
    await chain.mine();
    const secondHash = await chain.payBySuffix({
      ...link,
      amount: 25n * baseUnitsPerToken,
      payer: 1,
    });
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

  // ERC-8021: a wallet and an app each write behind the calldata who they are.
  test("completes the link where two attributions follow the reference (rule CHAIN-25)", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix(
      { ...link, amount: 25n * baseUnitsPerToken },
      (data) => `${data}${attribution}${attribution}`,
    );
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [createAppliedPayment("25", hash)],
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("beside a payment through the proxy is a payment of its own", async () => {
    const link = await createLink();
    const directHash = await chain.payBySuffix({ ...link, amount: 10n * baseUnitsPerToken });
    const proxyHash = await chain.pay({ ...link, amount: 15n * baseUnitsPerToken, payer: 1 });
    await system.settleAll();
    const { payments, ...otherFields } = await system.readLink(link.id);
    expect(otherFields).toEqual({ status: "completed", receivedAmount: "25" });
    expect(payments).toEqual(
      expect.arrayContaining([
        createAppliedPayment("10", directHash),
        createAppliedPayment("15", proxyHash),
      ]),
    );
  });

  test("to the owner of another link is kept and not counted, on neither link", async () => {
    const link = await createLink();
    const otherLink = await createLink();
    const hash = await chain.payBySuffix({
      ...link,
      to: otherLink.to,
      amount: 25n * baseUnitsPerToken,
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      ...unpaidLink,
      payments: [createUnappliedPayment("wrong_destination", "25", hash)],
    });
    expect(await system.readLink(otherLink.id)).toEqual(unpaidLink);
    expect(await system.countDeposits(otherLink.to)).toBe(0);
  });

  test("in another token is kept and not counted", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({
      ...link,
      amount: 25n * baseUnitsPerToken,
      token: "other6",
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      ...unpaidLink,
      payments: [createUnappliedPayment("wrong_token", "25", hash)],
    });
  });

  test("in a token that takes a fee counts for what arrived", async () => {
    const link = await createLink({ toAmount: "100", tokenId: "fee" });
    const hash = await chain.payBySuffix({
      ...link,
      amount: 100n * baseUnitsPerToken,
      token: "fee",
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "99",
      payments: [createAppliedPayment("99", hash)],
    });
  });

  test("after the link's end, by its block's time and when it was seen, is kept and not counted", async () => {
    const headBlock = await chain.client.getBlock();
    const expiresAtSeconds =
      Math.max(Number(headBlock.timestamp), Math.floor(Date.now() / 1_000)) + 300;
    const expirationDate = new Date(expiresAtSeconds * 1_000).toISOString();
    const link = await createLink({ expirationDate });
    system.advanceClock(expiresAtSeconds * 1_000 + 1_000 - Date.now());
    await chain.setNextBlockTime(expiresAtSeconds + 1);
    const hash = await chain.payBySuffix({ ...link, amount: 25n * baseUnitsPerToken });
    await system.settleAll();
    const { payments } = await system.readLink(link.id);
    expect(payments).toEqual([createUnappliedPayment("expired", "25", hash)]);
  });

  test.each<[string, (link: Awaited<ReturnType<typeof createLink>>) => Promise<unknown>]>([
    [
      "through a contract wallet, twice in one transaction",
      (link) =>
        chain.payBySuffixInOneTransaction([
          { ...link, amount: 12n * baseUnitsPerToken },
          { ...link, amount: 12n * baseUnitsPerToken },
        ]),
    ],
    [
      "with bytes behind the reference, twice",
      async (link) => {
        const pay = (payer: 0 | 1) =>
          chain.payBySuffix(
            { ...link, amount: 12n * baseUnitsPerToken, payer },
            (data) => `${data}00`,
          );
        await pay(0);
        await pay(1);
      },
    ],
    [
      "with half a reference, twice",
      async (link) => {
        const pay = (payer: 0 | 1) =>
          chain.payBySuffix(
            { ...link, amount: 12n * baseUnitsPerToken, payer },
            (data) => `0x${data.slice(2, -16)}`,
          );
        await pay(0);
        await pay(1);
      },
    ],
  ])("%s, is no payment, and two deposits that the owner assigns", async (_case, pay) => {
    const link = await createLink();
    await pay(link);
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
    expect(await system.countDeposits(link.to)).toBe(2);
  });

  test("of 0, or to nobody's address, changes nothing", async () => {
    const link = await createLink();
    const unknownAddress = "0x2222222222222222222222222222222222222222";
    await chain.payBySuffix({ ...link, amount: 0n });
    await chain.payBySuffix({
      ...link,
      to: unknownAddress,
      amount: 25n * baseUnitsPerToken,
      payer: 1,
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("that failed in its block changes nothing", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 10n ** 40n });
    await system.settleAll();
    expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({
      status: "reverted",
    });
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  test("is found before its link is heard of, and counts once it is", async () => {
    const ownerLink = await createLink();
    system.holdLinkEvents(true);
    try {
      const link = await system.createLink({ toAmount: "25" });
      // Its owner is known: the money goes where another link of theirs is paid.
      const hash = await chain.payBySuffix({
        ...link,
        to: ownerLink.to,
        amount: 25n * baseUnitsPerToken,
      });
      await chain.mine(1 + finalityBlocks);
      await system.waitUntilScanned();
      system.holdLinkEvents(false);
      const updatedLink = await system.waitForLink(link.id, ({ payments }) =>
        payments.some(({ status }) => status === "settled"),
      );
      expect(updatedLink.payments).toEqual([
        createUnappliedPayment("wrong_destination", "25", hash),
      ]);
    } finally {
      system.holdLinkEvents(false);
    }
    expect(await system.countDeposits(ownerLink.to)).toBe(0);
  });

  test.each([1, finalityBlocks])(
    "is taken away by a reorg of depth %i while it is processing; back again, it settles once",
    async (depth) => {
      const link = await createLink({ toAmount: "100" });
      const hash = await chain.payBySuffix({ ...link, amount: 10n * baseUnitsPerToken });
      await chain.mine();
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      const rawTransaction = await chain.readRawTransaction(hash);
      await chain.mine(depth - 1);
      await chain.reorg(depth);
      await system.settleAll();
      expect(await system.readLink(link.id)).toMatchObject({
        ...unpaidLink,
        payments: [{ status: "processing", amount: "10", sourceTransaction: hash }],
      });
      await chain.callRpc("eth_sendRawTransaction", [rawTransaction]);
      await system.settleAll();
      expect(await system.readLink(link.id)).toEqual({
        status: "active",
        receivedAmount: "10",
        payments: [createAppliedPayment("10", hash)],
      });
      expect(await system.countDeposits(link.to)).toBe(0);
    },
  );

  test("has failed once a final block holds another transaction of its nonce", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 10n * baseUnitsPerToken });
    await chain.mine();
    await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
    await chain.reorg(1);
    await chain.transferToken({ to: "0x2222222222222222222222222222222222222222", amount: 1n });
    await chain.mine(12);
    const updatedLink = await system.waitForLink(
      link.id,
      ({ payments }) => payments[0]?.status === "failed",
    );
    expect(updatedLink).toMatchObject({ ...unpaidLink, payments: [{ sourceTransaction: hash }] });
  });

  test("settles though its watcher was away in between", async () => {
    const link = await createLink();
    await chain.payBySuffix({ ...link, amount: 25n * baseUnitsPerToken });
    await chain.mine();
    await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
    await system.stopWatchers();
    await chain.mine(finalityBlocks);
    await system.startWatcher();
    await system.waitForLink(link.id, ({ status }) => status === "completed");
  });
});
