import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type PaymentSystem, createPaymentSystem } from "../rig/payment-system.ts";
import { createAppliedPayment } from "../rig/expected-payments.ts";

const baseUnitsPerToken = 1_000_000n;
const finalityBlocks = 3;
/** The node's finalized block is twice this many blocks behind its head. */
const slotsInEpoch = 4;
const blocksUntilFinal = 2 * slotsInEpoch;

const isSettled = ({ payments }: { payments: { status: string }[] }) =>
  payments.some(({ status }) => status === "settled");

describe(`a chain reorg with payments that settle after ${finalityBlocks} blocks`, () => {
  let chain: LocalEvmChain;
  let system: PaymentSystem;

  beforeEach(async () => {
    chain = await startEvmChain({ slotsInEpoch });
    system = await createPaymentSystem({
      chain,
      settings: { finality: { blocks: finalityBlocks } },
    });
  });
  afterEach(async () => {
    await system?.close();
    await chain?.close();
  });

  /**
   * Creates a link for 100 tokens and pays 10 of them in the newest block. Waits until the payment
   * is processing.
   */
  const createPaidLink = async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.pay({ ...link, amount: 10n * baseUnitsPerToken });
    await chain.mine();
    await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
    return { link, hash, raw: await chain.readRawTransaction(hash) };
  };

  /** Expects the owner's view of a link to match the chain. */
  const expectMatchesChain = async (link: { id: string; to: string }) => {
    const { amount } = await chain.readReceived(link.to, "usdc", await chain.readHeadNumber());
    expect(await system.readLink(link.id)).toMatchObject({
      receivedAmount: String(amount / baseUnitsPerToken),
    });
  };

  /** Settles all blocks, and expects that a link has only this payment. */
  const expectSettled = async (link: { id: string; to: string }, hash: string) => {
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [createAppliedPayment("10", hash)],
    });
    await expectMatchesChain(link);
  };

  test.each([1, finalityBlocks - 1, finalityBlocks])(
    "of depth %i orphans a processing payment, which settles once if it is mined again",
    async (depth) => {
      await system.startWatcher();
      const { link, hash, raw: rawTransaction } = await createPaidLink();
      await chain.mine(depth - 1);
      await chain.reorg(depth);
      await system.settleAll();
      expect(await system.readLink(link.id)).toMatchObject({
        status: "active",
        receivedAmount: "0",
        payments: [{ status: "processing", amount: "10", sourceTransaction: hash }],
      });
      await expectMatchesChain(link);

      await chain.callRpc("eth_sendRawTransaction", [rawTransaction]);
      await expectSettled(link, hash);
    },
  );

  test("fails a payment once a final block contains another transaction with its nonce", async () => {
    await system.startWatcher();
    const { link, hash, raw: rawTransaction } = await createPaidLink();
    await chain.reorg(1);
    await chain.callRpc("eth_sendRawTransaction", [rawTransaction]);
    const replacementHash = await chain.replace(hash);
    await chain.mine();
    expect(
      (await chain.client.getTransactionReceipt({ hash: replacementHash })).blockNumber,
    ).toBeGreaterThan(0);
    await chain.mine(blocksUntilFinal - 1);
    await system.waitUntilScanned();
    expect((await system.readLink(link.id)).payments).toMatchObject([{ status: "processing" }]);
    await chain.mine(1);
    const updatedLink = await system.waitForLink(
      link.id,
      ({ payments }) => payments[0]?.status === "failed",
    );
    expect(updatedLink).toMatchObject({ status: "active", receivedAmount: "0" });
    expect(updatedLink.payments).toHaveLength(1);
    await expectMatchesChain(link);
  });

  test("that mines the same transaction in another block does not duplicate the payment", async () => {
    await system.startWatcher();
    const { link, hash, raw: rawTransaction } = await createPaidLink();
    await chain.mine(1);
    await chain.reorg(2, [{ raw: rawTransaction, offset: 1 }]);
    await expectSettled(link, hash);
  });

  test("that mines the same transaction at another log index does not duplicate the payment", async () => {
    await system.startWatcher();
    const otherLink = await system.createLink({ toAmount: "100" });
    const firstHash = await chain.pay({ ...otherLink, amount: 7n * baseUnitsPerToken, payer: 1 });
    const { link, hash, raw: rawTransaction } = await createPaidLink();
    const firstRaw = await chain.readRawTransaction(firstHash);
    const readLogIndex = async () =>
      (await chain.client.getTransactionReceipt({ hash })).logs[0]?.logIndex;
    const indexBefore = await readLogIndex();
    await chain.reorg(1, [
      { raw: rawTransaction, offset: 0 },
      { raw: firstRaw, offset: 0 },
    ]);
    expect(await readLogIndex()).not.toBe(indexBefore);
    await system.settleAll();
    expect(await system.readLink(link.id)).toMatchObject({
      payments: [createAppliedPayment("10", hash)],
    });
    expect(await system.readLink(otherLink.id)).toMatchObject({
      payments: [createAppliedPayment("7", firstHash)],
    });
    await expectMatchesChain(link);
    await expectMatchesChain(otherLink);
  });

  test.each([0, finalityBlocks])(
    "of %i blocks that mines the same transaction with another number of logs does not duplicate the payment",
    async (depth) => {
      await system.startWatcher();
      const link = await system.createLink({ toAmount: "100" });
      const hash = await chain.payInOneTransaction([{ ...link, amount: 10n * baseUnitsPerToken }], {
        isFickle: true,
      });
      await chain.mine();
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      const readLogCount = async () =>
        (await chain.client.getTransactionReceipt({ hash })).logs.length;
      const countBefore = await readLogCount();
      const rawTransaction = await chain.readRawTransaction(hash);
      await chain.mine(Math.max(depth, 1));
      if (depth === finalityBlocks) await system.waitForLink(link.id, isSettled);
      await chain.reorg(Math.max(depth, 1) + 1, [{ raw: rawTransaction, offset: 1 }]);
      expect(await readLogCount()).not.toBe(countBefore);
      await system.settleAll();
      expect(await system.readLink(link.id)).toMatchObject({
        receivedAmount: "10",
        payments: [createAppliedPayment("10", hash)],
      });
      await expectMatchesChain(link);
    },
  );

  test("without a running watcher is detected when a watcher starts again", async () => {
    const firstWatcher = await system.startWatcher();
    const { link, hash } = await createPaidLink();
    const keptLink = await system.createLink({ toAmount: "100" });
    await chain.mine();
    await system.waitUntilScanned();
    await firstWatcher.stop();

    await chain.reorg(2);
    const laterHash = await chain.pay({ ...keptLink, amount: 3n * baseUnitsPerToken, payer: 1 });
    await chain.mine(finalityBlocks);
    await system.startWatcher();
    await system.settleAll();
    expect(await system.readLink(keptLink.id)).toMatchObject({
      payments: [createAppliedPayment("3", laterHash)],
    });
    expect(await system.readLink(link.id)).toMatchObject({
      receivedAmount: "0",
      payments: [{ status: "processing", sourceTransaction: hash }],
    });
    await expectMatchesChain(link);
    await expectMatchesChain(keptLink);
  });

  test("that orphans a settled payment leaves the credit, flags it until it is mined again, and keeps watching", async () => {
    await system.startWatcher();
    const { link, hash, raw: rawTransaction } = await createPaidLink();
    await chain.mine(finalityBlocks);
    await system.waitForLink(link.id, isSettled);
    await chain.reorg(finalityBlocks + 1);
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [{ ...createAppliedPayment("10", hash), orphaned: true }],
    });
    await chain.callRpc("eth_sendRawTransaction", [rawTransaction]);
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [createAppliedPayment("10", hash)],
    });
  });

  test("past a final block halts the watch of this chain and of no other (rule CHAIN-7)", async () => {
    await system.close();
    const otherChain = await startEvmChain({ slotsInEpoch, chainId: "1338" });
    const settings = { finality: { blocks: finalityBlocks } };
    system = await createPaymentSystem({ chain, otherChains: [otherChain], settings });
    try {
      const watcher = await system.startWatcher();
      const { link, hash } = await createPaidLink();
      await chain.mine(blocksUntilFinal + 2);
      await system.waitForLink(link.id, isSettled);
      await system.waitUntilScanned();
      await chain.reorg(blocksUntilFinal + 2);
      await chain.mine();
      await system.waitUntilHalted();
      expect((await system.readProgress()).haltedReason).not.toBeNull();
      expect(JSON.stringify(await watcher.status())).toMatch(/halt/);

      const sameChainLink = await system.createLink({ toAmount: "100" });
      await chain.pay({ ...sameChainLink, amount: baseUnitsPerToken });
      await chain.mine(finalityBlocks + 1);
      const otherChainLink = await system.createLink({ toAmount: "100", tokenId: "usdc-1338" });
      const otherChainHash = await otherChain.pay({
        ...otherChainLink,
        amount: 5n * baseUnitsPerToken,
      });
      await otherChain.mine(finalityBlocks + 1);
      await system.waitForLink(otherChainLink.id, isSettled);
      expect(await system.readLink(otherChainLink.id)).toMatchObject({
        payments: [createAppliedPayment("5", otherChainHash)],
      });
      expect((await system.readProgress(otherChain)).haltedReason).toBeNull();
      expect(await system.readLink(sameChainLink.id)).toMatchObject({ payments: [] });
      expect(await system.readLink(link.id)).toMatchObject({
        payments: [createAppliedPayment("10", hash)],
      });
    } finally {
      await system.close();
      await otherChain.close();
    }
  });
});
