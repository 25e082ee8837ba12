import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { counted } from "../rig/shown-payments.ts";

const units = 1_000_000n;
const policyBlocks = 3;
/** The node's finalized block is twice as far behind its head. */
const slotsInEpoch = 4;
const finalBlocks = 2 * slotsInEpoch;

const isSettled = ({ payments }: { payments: { status: string }[] }) =>
  payments.some(({ status }) => status === "settled");

describe(`a chain that reorganises, watched with ${policyBlocks} blocks of patience`, () => {
  let chain: Chain;
  let system: PaymentSystem;

  beforeEach(async () => {
    chain = await openChain({ slotsInEpoch });
    system = await openPaymentSystem({ chain, settings: { finality: { blocks: policyBlocks } } });
  });
  afterEach(async () => {
    await system?.close();
    await chain?.close();
  });

  /** A link of 100 and a payment of 10 on it, in the newest block and shown as processing. */
  const payOnce = async () => {
    const link = await system.createLink({ toAmount: "100" });
    const hash = await chain.pay({ ...link, amount: 10n * units });
    await chain.mine();
    await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
    return { link, hash, raw: await chain.rawOf(hash) };
  };

  /** What a link's owner is shown matches what really is in the chain. */
  const expectTruth = async (link: { id: string; to: string }) => {
    const { amount } = await chain.received(link.to, "usdc", await chain.headNumber());
    expect(await system.show(link.id)).toMatchObject({ receivedAmount: String(amount / units) });
  };

  test.each([1, policyBlocks - 1, policyBlocks])(
    "of depth %i takes a payment away that was processing; back again, it settles once",
    async (depth) => {
      await system.startWatcher();
      const { link, hash, raw } = await payOnce();
      await chain.mine(depth - 1);
      await chain.reorg(depth);
      await system.settleAll();
      expect(await system.show(link.id)).toMatchObject({
        status: "active",
        receivedAmount: "0",
        payments: [{ status: "processing", amount: "10", sourceTransaction: hash }],
      });
      await expectTruth(link);

      await chain.ask("eth_sendRawTransaction", [raw]);
      await system.settleAll();
      expect(await system.show(link.id)).toEqual({
        status: "active",
        receivedAmount: "10",
        payments: [counted("10", hash)],
      });
      await expectTruth(link);
    },
  );

  test("has failed a payment once a final block holds another transaction of its nonce", async () => {
    await system.startWatcher();
    const { link, hash, raw } = await payOnce();
    await chain.reorg(1);
    await chain.ask("eth_sendRawTransaction", [raw]);
    const other = await chain.replace(hash);
    await chain.mine();
    expect((await chain.client.getTransactionReceipt({ hash: other })).blockNumber).toBeGreaterThan(
      0,
    );
    await chain.mine(finalBlocks - 1);
    await system.scanAll();
    expect((await system.show(link.id)).payments).toMatchObject([{ status: "processing" }]);
    await chain.mine(1);
    const shown = await system.showWhen(
      link.id,
      ({ payments }) => payments[0]?.status === "failed",
    );
    expect(shown).toMatchObject({ status: "active", receivedAmount: "0" });
    expect(shown.payments).toHaveLength(1);
    await expectTruth(link);
  });

  test("may mine the same transaction in another block: it is one payment", async () => {
    await system.startWatcher();
    const { link, hash, raw } = await payOnce();
    await chain.mine(1);
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [counted("10", hash)],
    });
    await expectTruth(link);
  });

  test("may mine the same transaction at another log position: it is one payment", async () => {
    await system.startWatcher();
    const other = await system.createLink({ toAmount: "100" });
    const first = await chain.pay({ ...other, amount: 7n * units, payer: 1 });
    const { link, hash, raw } = await payOnce();
    const firstRaw = await chain.rawOf(first);
    const positionOf = async () =>
      (await chain.client.getTransactionReceipt({ hash })).logs[0]?.logIndex;
    const before = await positionOf();
    await chain.reorg(1, [
      { raw, offset: 0 },
      { raw: firstRaw, offset: 0 },
    ]);
    expect(await positionOf()).not.toBe(before);
    await system.settleAll();
    expect(await system.show(link.id)).toMatchObject({ payments: [counted("10", hash)] });
    expect(await system.show(other.id)).toMatchObject({ payments: [counted("7", first)] });
    await expectTruth(link);
    await expectTruth(other);
  });

  test.each([0, policyBlocks])(
    "of what is %i blocks deep may mine it with another number of logs: it is one payment",
    async (depth) => {
      await system.startWatcher();
      const link = await system.createLink({ toAmount: "100" });
      const hash = await chain.payTogether([{ ...link, amount: 10n * units }], { isFickle: true });
      await chain.mine();
      await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
      const logCount = async () => (await chain.client.getTransactionReceipt({ hash })).logs.length;
      const before = await logCount();
      const raw = await chain.rawOf(hash);
      await chain.mine(Math.max(depth, 1));
      if (depth === policyBlocks) await system.showWhen(link.id, isSettled);
      await chain.reorg(Math.max(depth, 1) + 1, [{ raw, offset: 1 }]);
      expect(await logCount()).not.toBe(before);
      await system.settleAll();
      expect(await system.show(link.id)).toMatchObject({
        receivedAmount: "10",
        payments: [counted("10", hash)],
      });
      await expectTruth(link);
    },
  );

  test("while nobody watches is found when somebody does again", async () => {
    const first = await system.startWatcher();
    const { link, hash } = await payOnce();
    const kept = await system.createLink({ toAmount: "100" });
    await chain.mine();
    await system.scanAll();
    await first.stop();

    await chain.reorg(2);
    const later = await chain.pay({ ...kept, amount: 3n * units, payer: 1 });
    await chain.mine(policyBlocks);
    await system.startWatcher();
    await system.settleAll();
    expect(await system.show(kept.id)).toMatchObject({ payments: [counted("3", later)] });
    expect(await system.show(link.id)).toMatchObject({
      receivedAmount: "0",
      payments: [{ status: "processing", sourceTransaction: hash }],
    });
    await expectTruth(link);
    await expectTruth(kept);
  });

  test("that takes away what had settled leaves the credit, flags it until it is back, and watches on", async () => {
    await system.startWatcher();
    const { link, hash, raw } = await payOnce();
    await chain.mine(policyBlocks);
    await system.showWhen(link.id, isSettled);
    await chain.reorg(policyBlocks + 1);
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [{ ...counted("10", hash), orphaned: true }],
    });
    await chain.ask("eth_sendRawTransaction", [raw]);
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "10",
      payments: [counted("10", hash)],
    });
  });

  test("past a final block halts the watching of this chain and of nothing else (rule CHAIN-7)", async () => {
    await system.close();
    const other = await openChain({ slotsInEpoch, chainId: "1338" });
    const settings = { finality: { blocks: policyBlocks } };
    system = await openPaymentSystem({ chain, others: [other], settings });
    try {
      const watcher = await system.startWatcher();
      const { link, hash } = await payOnce();
      await chain.mine(finalBlocks + 2);
      await system.showWhen(link.id, isSettled);
      await system.scanAll();
      await chain.reorg(finalBlocks + 2);
      await chain.mine();
      await system.halted();
      expect((await system.progress()).haltedReason).not.toBeNull();
      expect(JSON.stringify(await watcher.status())).toMatch(/halt/);

      const here = await system.createLink({ toAmount: "100" });
      await chain.pay({ ...here, amount: units });
      await chain.mine(policyBlocks + 1);
      const there = await system.createLink({ toAmount: "100", tokenId: "usdc-1338" });
      const there1 = await other.pay({ ...there, amount: 5n * units });
      await other.mine(policyBlocks + 1);
      await system.showWhen(there.id, isSettled);
      expect(await system.show(there.id)).toMatchObject({ payments: [counted("5", there1)] });
      expect((await system.progress(other)).haltedReason).toBeNull();
      expect(await system.show(here.id)).toMatchObject({ payments: [] });
      expect(await system.show(link.id)).toMatchObject({ payments: [counted("10", hash)] });
    } finally {
      await system.close();
      await other.close();
    }
  });
});
