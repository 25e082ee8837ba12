import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { owner } from "../testing/samples.ts";

const chain = useRig(startEvmChain);
let rig: WatchRig;
beforeEach(async () => {
  rig = await createWatchRig(chain, { finality: { blocks: 3 } });
});
afterEach(() => rig.close());

describe("watching a chain", () => {
  test("publishes a payment as processing once it is mined, and as settled once enough blocks are on top (rules CHAIN-3 and CHAIN-4)", async () => {
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const hash = await chain.pay({
      reference: link.paymentReference,
      to: owner,
      amount: 2_500_000n,
    });
    await chain.mine();
    await rig.waitForPublished(link.id, 1);
    await chain.mine(2);
    await rig.waitUntilScanned();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
    await chain.mine();
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      source: `evm:${chain.chainId}`,
      status: "settled",
      amount: "2.5",
      destinationAddress: owner,
      sourceTransaction: hash,
      version: 2,
    });
  });

  test("publishes the chain's progress only while a payment waits (rule EVENT-9)", async () => {
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await chain.mine(2);
    await rig.waitUntilScanned();
    expect(rig.publishedAdvances()).toEqual([]);
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
    const block = await chain.readHeadNumber();
    await rig.waitForPublished(link.id, 1);
    expect(rig.publishedPayments(link.id)[0]?.blockNumber).toBe(block);
    await waitUntil("the progress is published", () => rig.publishedAdvances().length === 1);
    expect(rig.publishedAdvances()).toEqual([
      {
        chainId: chain.chainId,
        headBlock: block,
        settledTo: block - 3,
        neededBlocks: 3,
        at: expect.any(String),
      },
    ]);
    // This block is mined less than two seconds after the last report, and no other block follows
    // it.
    await chain.mine();
    const newest = await chain.readHeadNumber();
    await waitUntil(
      "the newest block is published",
      () => rig.publishedAdvances().at(-1)?.headBlock === newest,
    );
    await chain.mine(2);
    await rig.waitForPublished(link.id, 2);
    await rig.waitUntilScanned();
    const publishedCount = rig.publishedAdvances().length;
    await rig.pool.query(sqlVoid`UPDATE watchers SET advance_told_at = NULL`);
    await chain.mine(2);
    await rig.waitUntilScanned();
    expect(await readEvents(rig.pool, chain.chainId)).toEqual([]);
    expect(rig.publishedAdvances()).toHaveLength(publishedCount);
  });

  test("keeps one payment when a reorg moves it to another block (rule CHAIN-3)", async () => {
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine();
    await rig.waitForPublished(link.id, 1);
    const raw = await chain.readRawTransaction(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(4);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 0.000001", "settled 0.000001"]);
  });

  test("publishes a payment that was seen before its link once the link is received", async () => {
    await rig.service.start();
    const link = rig.sampleLink();
    await rig.waitUntilScanned();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
    await chain.mine(5);
    await rig.waitUntilScanned();
    await rig.receiveLinks(link);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 0.000005", "settled 0.000005"]);
  });
});
