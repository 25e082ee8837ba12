import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { createWatchRig, startWatchRig } from "../testing/create-watch-rig.ts";
import {
  satoshisPerBitcoin,
  startWatchedBitcoin,
  toPayee,
} from "../testing/start-watched-bitcoin.ts";

const { describe, program } = await requireBtcd();

describe("the Bitcoin watch", () => {
  const chain = useRig(() => startWatchedBitcoin(program));
  const rig = useRigEach(() => startWatchRig(chain));

  test("settles a payment with its block and publishes its transaction", async () => {
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
  ])(
    "waits for more blocks before a payment of %s BTC settles (rule CHAIN-4)",
    async (_, amount, blocks) => {
      const link = await rig.receiveNewLink();
      await rig.waitUntilScanned();
      await chain.pay(toPayee(link, amount));
      await chain.mine(blocks);
      await rig.waitUntilScanned();
      await rig.waitForStatus(link.id, "processing");
      await chain.mine();
      await rig.waitForStatus(link.id, "settled");
    },
  );

  test("rejects `findsDeposits`, because each link has its own address (rule CHAIN-20)", async () => {
    await expect(async () => createWatchRig(chain, { findsDeposits: true })).rejects.toThrow(
      "CHAINS_FILE: turns on findsDeposits for chain local-bitcoin",
    );
  });

  test("publishes the chain's progress and the required blocks while a large amount is processing", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(toPayee(link, 5_000_000n));
    await chain.mine();
    const headBlock = await chain.readHeight();
    await waitUntil(
      "the advance is published",
      () => rig.publishedAdvances().at(-1)?.headBlock === headBlock,
    );
    expect(rig.publishedAdvances().at(-1)).toMatchObject({
      settledTo: headBlock,
      neededBlocks: 0,
      neededByAmount: [
        { from: "0.05", blocks: 2 },
        { from: "1", blocks: 5 },
      ],
    });
  });

  test("requires blocks for the sum of a transaction's outputs to one link (rule CHAIN-4)", async () => {
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

  test("requires blocks for each link separately if one transaction pays several links", async () => {
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
