import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { openWatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import { coin, openWatchedBitcoin, payeeOf } from "../../testing/open-watched-bitcoin.ts";

const { describe, program } = await needingBtcd();

describe("watching Bitcoin", () => {
  const chain = useRig(() => openWatchedBitcoin(program));
  const rig = useRigEach(() => startWatchRig(chain));

  test("a payment settles with the block that holds it, and is told with its transaction", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link, 123_456n));
    await chain.mine();
    await rig.waitStatus(link.id, "settled");
    expect(rig.told(link.id).at(-1)).toMatchObject({
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
    ["1", coin, 5],
  ])("one of %s BTC waits for more blocks (rule CHAIN-4)", async (_, amount, blocks) => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(payeeOf(link, amount));
    await chain.mine(blocks);
    await rig.caughtUp();
    await rig.waitStatus(link.id, "processing");
    await chain.mine();
    await rig.waitStatus(link.id, "settled");
  });

  test("is refused where deposits are looked for: each link has an address of its own (rule CHAIN-20)", async () => {
    await expect(async () => openWatchRig(chain, { findsDeposits: true })).rejects.toThrow(
      "CHAINS_FILE: switches findsDeposits on for chain local-bitcoin",
    );
  });

  test("others are told how far the chain is while a large amount waits, and what it needs", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(payeeOf(link, 5_000_000n));
    await chain.mine();
    const headBlock = await chain.height();
    await waitUntil("it is told", () => rig.advances().at(-1)?.headBlock === headBlock);
    expect(rig.advances().at(-1)).toMatchObject({
      settledTo: headBlock,
      neededBlocks: 0,
      neededByAmount: [
        { from: "0.05", blocks: 2 },
        { from: "1", blocks: 5 },
      ],
    });
  });

  test("many outputs of one transaction to one link wait for what their sum needs (rule CHAIN-4)", async () => {
    const [small, large] = [await rig.hearNew(), await rig.hearNew()];
    await rig.caughtUp();
    const parts = [2_600_000n, 2_600_000n].map((units) => payeeOf(large, units));
    await chain.payTogether([payeeOf(small), ...parts]);
    await chain.mine();
    await rig.waitStatus(small.id, "settled");
    await chain.mine();
    await rig.caughtUp();
    expect(rig.told(large.id).filter(({ status }) => status === "settled")).toEqual([]);
    await chain.mine();
    await waitUntil("both settle", () => {
      const settled = rig.told(large.id).filter(({ status }) => status === "settled");
      return settled.length === 2;
    });
  });

  test("of one transaction the payments to each link wait for what their amount needs", async () => {
    const [small, large] = [await rig.hearNew(), await rig.hearNew()];
    await rig.caughtUp();
    await chain.payTogether([payeeOf(small), payeeOf(large, 5_000_000n)]);
    await chain.mine();
    await rig.waitStatus(small.id, "settled");
    await chain.mine();
    await rig.caughtUp();
    expect(rig.told(large.id).at(-1)?.status).toBe("processing");
    await chain.mine();
    await rig.waitStatus(large.id, "settled");
    expect(rig.told(small.id).filter(({ status }) => status === "settled")).toHaveLength(1);
  });
});
