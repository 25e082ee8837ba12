import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { type LinkOrder, type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { counted, processing, uncounted, untouched } from "../rig/shown-payments.ts";

const units = 1_000_000n;
const policyBlocks = 2;
/** One code, "wallet", of schema 0. */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

describe("a transfer that names its link by a suffix, and what its link shows afterwards", () => {
  let chain: Chain;
  let system: PaymentSystem;

  beforeAll(async () => {
    chain = await openChain({ slotsInEpoch: 4 });
    const settings = { finality: { blocks: policyBlocks } };
    system = await openPaymentSystem({ chain, settings, readsTransfers: true });
    await system.startWatcher();
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
  });

  /** A link whose owner's address the watcher knows. */
  const createLink = async (order: Partial<LinkOrder> = {}) => {
    const link = await system.createLink({ toAmount: "25", ...order });
    await system.hearsOf(link.to);
    return link;
  };

  test("is processing once seen, and completes the link once its block is deep enough", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 25n * units });
    await chain.mine();
    const seen = await system.showWhen(link.id, ({ payments }) => payments.length > 0);
    expect(seen).toEqual({ ...untouched, payments: [processing("25", hash)] });
    await chain.mine(policyBlocks);
    const paid = await system.showWhen(link.id, ({ status }) => status !== "active");
    expect(paid).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [counted("25", hash)],
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test.each([
    ["in parts", [10n, 15n], "25"],
    ["too much", [30n], "30"],
  ])("%s counts as what arrived", async (_how, amounts, received) => {
    const link = await createLink();
    for (const amount of amounts) await chain.payBySuffix({ ...link, amount: amount * units });
    await system.settleAll();
    expect(await system.show(link.id)).toMatchObject({
      status: "completed",
      receivedAmount: received,
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("made twice is two payments, of which the second came too late", async () => {
    const link = await createLink();
    const first = await chain.payBySuffix({ ...link, amount: 25n * units });
    await chain.mine();
    const second = await chain.payBySuffix({ ...link, amount: 25n * units, payer: 1 });
    await system.settleAll();
    const { payments, ...rest } = await system.show(link.id);
    expect(rest).toEqual({ status: "completed", receivedAmount: "25" });
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(
      expect.arrayContaining([counted("25", first), uncounted("completed", "25", second)]),
    );
  });

  // ERC-8021: a wallet and an app each write behind the calldata who they are.
  test("completes the link where two attributions follow the reference (rule CHAIN-25)", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix(
      { ...link, amount: 25n * units },
      (data) => `${data}${attribution}${attribution}`,
    );
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [counted("25", hash)],
    });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("beside a payment through the proxy is a payment of its own", async () => {
    const link = await createLink();
    const direct = await chain.payBySuffix({ ...link, amount: 10n * units });
    const through = await chain.pay({ ...link, amount: 15n * units, payer: 1 });
    await system.settleAll();
    const { payments, ...rest } = await system.show(link.id);
    expect(rest).toEqual({ status: "completed", receivedAmount: "25" });
    expect(payments).toEqual(
      expect.arrayContaining([counted("10", direct), counted("15", through)]),
    );
  });

  test("to the owner of another link is kept and not counted, on neither link", async () => {
    const link = await createLink();
    const other = await createLink();
    const hash = await chain.payBySuffix({ ...link, to: other.to, amount: 25n * units });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      ...untouched,
      payments: [uncounted("wrong_destination", "25", hash)],
    });
    expect(await system.show(other.id)).toEqual(untouched);
    expect(await system.countDeposits(other.to)).toBe(0);
  });

  test("in another token is kept and not counted", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 25n * units, token: "other6" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      ...untouched,
      payments: [uncounted("wrong_token", "25", hash)],
    });
  });

  test("in a token that takes a fee counts for what arrived", async () => {
    const link = await createLink({ toAmount: "100", tokenId: "fee" });
    const hash = await chain.payBySuffix({ ...link, amount: 100n * units, token: "fee" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "active",
      receivedAmount: "99",
      payments: [counted("99", hash)],
    });
  });

  test("after the link's end, by its block's time and when it was seen, is kept and not counted", async () => {
    const head = await chain.client.getBlock();
    const endsAt = Math.max(Number(head.timestamp), Math.floor(Date.now() / 1_000)) + 300;
    const expirationDate = new Date(endsAt * 1_000).toISOString();
    const link = await createLink({ expirationDate });
    system.passTime(endsAt * 1_000 + 1_000 - Date.now());
    await chain.setTime(endsAt + 1);
    const hash = await chain.payBySuffix({ ...link, amount: 25n * units });
    await system.settleAll();
    const { payments } = await system.show(link.id);
    expect(payments).toEqual([uncounted("expired", "25", hash)]);
  });

  test.each<[string, (link: Awaited<ReturnType<typeof createLink>>) => Promise<unknown>]>([
    [
      "through a contract wallet, twice in one transaction",
      (link) =>
        chain.payBySuffixTogether([
          { ...link, amount: 12n * units },
          { ...link, amount: 12n * units },
        ]),
    ],
    [
      "with bytes behind the reference, twice",
      async (link) => {
        const pay = (payer: 0 | 1) =>
          chain.payBySuffix({ ...link, amount: 12n * units, payer }, (data) => `${data}00`);
        await pay(0);
        await pay(1);
      },
    ],
    [
      "with half a reference, twice",
      async (link) => {
        const pay = (payer: 0 | 1) =>
          chain.payBySuffix(
            { ...link, amount: 12n * units, payer },
            (data) => `0x${data.slice(2, -16)}`,
          );
        await pay(0);
        await pay(1);
      },
    ],
  ])("%s, is no payment, and two deposits that the owner assigns", async (_how, pay) => {
    const link = await createLink();
    await pay(link);
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
    expect(await system.countDeposits(link.to)).toBe(2);
  });

  test("of 0, or to nobody's address, changes nothing", async () => {
    const link = await createLink();
    const stranger = "0x2222222222222222222222222222222222222222";
    await chain.payBySuffix({ ...link, amount: 0n });
    await chain.payBySuffix({ ...link, to: stranger, amount: 25n * units, payer: 1 });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("that failed in its block changes nothing", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 10n ** 40n });
    await system.settleAll();
    expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({
      status: "reverted",
    });
    expect(await system.show(link.id)).toEqual(untouched);
  });

  test("is found before its link is heard of, and counts once it is", async () => {
    const owner = await createLink();
    system.holdLinks(true);
    try {
      const link = await system.createLink({ toAmount: "25" });
      // Its owner is known: the money goes where another link of theirs is paid.
      const hash = await chain.payBySuffix({ ...link, to: owner.to, amount: 25n * units });
      await chain.mine(1 + policyBlocks);
      await system.scanAll();
      system.holdLinks(false);
      const shown = await system.showWhen(link.id, ({ payments }) =>
        payments.some(({ status }) => status === "settled"),
      );
      expect(shown.payments).toEqual([uncounted("wrong_destination", "25", hash)]);
    } finally {
      system.holdLinks(false);
    }
    expect(await system.countDeposits(owner.to)).toBe(0);
  });

  test.each([1, policyBlocks])(
    "is taken away by a reorg of depth %i while it is processing; back again, it settles once",
    async (depth) => {
      const link = await createLink({ toAmount: "100" });
      const hash = await chain.payBySuffix({ ...link, amount: 10n * units });
      await chain.mine();
      await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
      const raw = await chain.rawOf(hash);
      await chain.mine(depth - 1);
      await chain.reorg(depth);
      await system.settleAll();
      expect(await system.show(link.id)).toMatchObject({
        ...untouched,
        payments: [{ status: "processing", amount: "10", sourceTransaction: hash }],
      });
      await chain.ask("eth_sendRawTransaction", [raw]);
      await system.settleAll();
      expect(await system.show(link.id)).toEqual({
        status: "active",
        receivedAmount: "10",
        payments: [counted("10", hash)],
      });
      expect(await system.countDeposits(link.to)).toBe(0);
    },
  );

  test("has failed once a final block holds another transaction of its nonce", async () => {
    const link = await createLink();
    const hash = await chain.payBySuffix({ ...link, amount: 10n * units });
    await chain.mine();
    await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
    await chain.reorg(1);
    await chain.give({ to: "0x2222222222222222222222222222222222222222", amount: 1n });
    await chain.mine(12);
    const shown = await system.showWhen(
      link.id,
      ({ payments }) => payments[0]?.status === "failed",
    );
    expect(shown).toMatchObject({ ...untouched, payments: [{ sourceTransaction: hash }] });
  });

  test("settles though its watcher was away in between", async () => {
    const link = await createLink();
    await chain.payBySuffix({ ...link, amount: 25n * units });
    await chain.mine();
    await system.showWhen(link.id, ({ payments }) => payments[0]?.status === "processing");
    await system.stopWatchers();
    await chain.mine(policyBlocks);
    await system.startWatcher();
    await system.showWhen(link.id, ({ status }) => status === "completed");
  });
});
