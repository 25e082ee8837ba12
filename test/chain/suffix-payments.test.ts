import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
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
/** An attribution suffix of schema 0 with one code, "wallet". */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

describe("a transfer that names its link by a suffix", () => {
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

  /** Creates a link and waits until the watcher knows the owner's address. */
  const createLink = async (options: Partial<LinkOptions> = {}) => {
    const link = await system.createLink({ toAmount: "25", ...options });
    await system.waitForOwnerAddress(link.to);
    return link;
  };

  test("is processing when first seen, and completes the link once its block is deep enough", async () => {
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
    ["of too much", [30n], "30"],
  ])("%s is credited with the received amount", async (_case, amounts, arrivedAmount) => {
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

  test("counts as two payments if it is made twice, and the second one is late", async () => {
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

  // With ERC-8021, a wallet and an app each append their attribution to the calldata.
  test("completes the link if two attributions follow the reference (rule CHAIN-25)", async () => {
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

  test("is separate from a payment through the proxy", async () => {
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

  test("to the owner of another link is stored and applied to neither link", async () => {
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

  test("in another token is stored and not applied", async () => {
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

  test("in a token that charges a fee is credited with the received amount", async () => {
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

  test("after the link's expiry, both by block time and when first seen, is stored and not applied", async () => {
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
      "with extra bytes after the reference, twice",
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
  ])("%s, is not a payment but two deposits that the owner assigns", async (_case, pay) => {
    const link = await createLink();
    await pay(link);
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
    expect(await system.countDeposits(link.to)).toBe(2);
  });

  test("of 0, or to an unknown address, changes nothing", async () => {
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

  test("that fails in its block changes nothing", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 10n ** 40n });
    await system.settleAll();
    expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({
      status: "reverted",
    });
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
  });

  test("is found before its link is received, and is applied afterwards", async () => {
    const ownerLink = await createLink();
    system.holdLinkEvents(true);
    try {
      const link = await system.createLink({ toAmount: "25" });
      // The watcher already knows the owner, because another link of the same owner uses this
      // address.
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
    "is orphaned by a reorg of depth %i while processing, and settles once if it is mined again",
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

  test("fails once a final block contains another transaction with its nonce", async () => {
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

  test("settles even if its watcher was down in between", async () => {
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
