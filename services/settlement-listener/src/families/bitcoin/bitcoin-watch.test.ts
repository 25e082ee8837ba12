import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "../../testing/bitcoin/require-btcd.ts";
import { createWatchRig, startWatchRig } from "../../testing/create-watch-rig.ts";
import {
  satoshisPerBitcoin,
  startWatchedBitcoin,
  toPayee,
} from "../../testing/start-watched-bitcoin.ts";

const { describe, program } = await requireBtcd();

describe("watching Bitcoin", () => {
  const chain = useRig(() => startWatchedBitcoin(program));
  const rig = useRigEach(() => startWatchRig(chain));

  test("a payment settles with the block that holds it, and is told with its transaction", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link, 123_456n));
    await chain.mine();
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      source: "chain:local-bitcoin",
      status: "settled",
      amount: "0.00123456",
      tokenAddress: "BTC",
      chainId: "local-bitcoin",
      destinationAddress: link.destinationAddress,
      sourceTransaction: txid,
    });
  });

  test.each([
    ["0.05", 5_000_000n, 2],
    ["1", satoshisPerBitcoin, 5],
  ])("one of %s BTC waits for more blocks (rule CHAIN-4)", async (_, amount, blocks) => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(toPayee(link, amount));
    await chain.mine(blocks);
    await rig.waitUntilScanned();
    await rig.waitForStatus(link.id, "processing");
    await chain.mine();
    await rig.waitForStatus(link.id, "settled");
  });

  test("is refused where deposits are looked for: each link has an address of its own (rule CHAIN-20)", async () => {
    await expect(async () => createWatchRig(chain, { findsDeposits: true })).rejects.toThrow(
      "CHAINS_FILE: switches findsDeposits on for chain local-bitcoin",
    );
  });

  test("others are told how far the chain is while a large amount waits, and what it needs", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(toPayee(link, 5_000_000n));
    await chain.mine();
    const headBlock = await chain.readHeight();
    await waitUntil("it is told", () => rig.publishedAdvances().at(-1)?.headBlock === headBlock);
    expect(rig.publishedAdvances().at(-1)).toMatchObject({
      settledTo: headBlock,
      neededBlocks: 0,
      neededByAmount: [
        { from: "0.05", blocks: 2 },
        { from: "1", blocks: 5 },
      ],
    });
  });

  test("many outputs of one transaction to one link wait for what their sum needs (rule CHAIN-4)", async () => {
    const [smallLink, largeLink] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
    await rig.waitUntilScanned();
    const payees = [2_600_000n, 2_600_000n].map((baseUnits) => toPayee(largeLink, baseUnits));
    await chain.payInOneTransaction([toPayee(smallLink), ...payees]);
    await chain.mine();
    await rig.waitForStatus(smallLink.id, "settled");
    await chain.mine();
    await rig.waitUntilScanned();
    expect(
      rig.publishedPayments(largeLink.id).filter(({ status }) => status === "settled"),
    ).toEqual([]);
    await chain.mine();
    await waitUntil("both settle", () => {
      const settledPayments = rig
        .publishedPayments(largeLink.id)
        .filter(({ status }) => status === "settled");
      return settledPayments.length === 2;
    });
  });

  test("of one transaction the payments to each link wait for what their amount needs", async () => {
    const [smallLink, largeLink] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
    await rig.waitUntilScanned();
    await chain.payInOneTransaction([toPayee(smallLink), toPayee(largeLink, 5_000_000n)]);
    await chain.mine();
    await rig.waitForStatus(smallLink.id, "settled");
    await chain.mine();
    await rig.waitUntilScanned();
    expect(rig.publishedPayments(largeLink.id).at(-1)?.status).toBe("processing");
    await chain.mine();
    await rig.waitForStatus(largeLink.id, "settled");
    expect(
      rig.publishedPayments(smallLink.id).filter(({ status }) => status === "settled"),
    ).toHaveLength(1);
  });
});
