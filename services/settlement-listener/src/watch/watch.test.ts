import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { owner } from "../testing/samples.ts";

const chain = useRig(openChain);
let rig: WatchRig;
beforeEach(async () => {
  rig = await openWatchRig(chain, { finality: { blocks: 3 } });
});
afterEach(() => rig.close());

describe("watching a chain", () => {
  test("a payment is processing once it is mined, and settled once the policy's blocks are on top of it (rules CHAIN-3 and CHAIN-4)", async () => {
    await rig.service.start();
    const link = await rig.hearNew();
    await rig.caughtUp();
    const hash = await chain.pay({
      reference: link.paymentReference,
      to: owner,
      amount: 2_500_000n,
    });
    await chain.mine();
    await rig.waitTold(link.id, 1);
    await chain.mine(2);
    await rig.caughtUp();
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
    await chain.mine();
    await rig.waitTold(link.id, 2);
    expect(rig.told(link.id).at(-1)).toMatchObject({
      source: `evm:${chain.chainId}`,
      status: "settled",
      amount: "2.5",
      destinationAddress: owner,
      sourceTransaction: hash,
      version: 2,
    });
  });

  test("how far the chain is, is told while a payment waits and at no other time (rule EVENT-9)", async () => {
    await rig.service.start();
    const link = await rig.hearNew();
    await chain.mine(2);
    await rig.caughtUp();
    expect(rig.advances()).toEqual([]);
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
    const block = await chain.headNumber();
    await rig.waitTold(link.id, 1);
    expect(rig.told(link.id)[0]?.blockNumber).toBe(block);
    await waitUntil("it is told", () => rig.advances().length === 1);
    expect(rig.advances()).toEqual([
      {
        chainId: chain.chainId,
        headBlock: block,
        settledTo: block - 3,
        neededBlocks: 3,
        at: expect.any(String),
      },
    ]);
    // This block comes within two seconds of the report, and none follows it.
    await chain.mine();
    const newest = await chain.headNumber();
    await waitUntil("the newest block is told", () => rig.advances().at(-1)?.headBlock === newest);
    await chain.mine(2);
    await rig.waitTold(link.id, 2);
    await rig.caughtUp();
    const toldCount = rig.advances().length;
    await rig.pool.query(nothing`UPDATE watchers SET advance_told_at = NULL`);
    await chain.mine(2);
    await rig.caughtUp();
    expect(await readEvents(rig.pool, chain.chainId)).toEqual([]);
    expect(rig.advances()).toHaveLength(toldCount);
  });

  test("a payment that a reorg moves to another block stays one payment (rule CHAIN-3)", async () => {
    await rig.service.start();
    const link = await rig.hearNew();
    await rig.caughtUp();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine();
    await rig.waitTold(link.id, 1);
    const raw = await chain.rawOf(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(4);
    await rig.waitTold(link.id, 2);
    expect(rig.statuses(link.id)).toEqual(["processing 0.000001", "settled 0.000001"]);
  });

  test("a payment seen before its link is heard of is told with it", async () => {
    await rig.service.start();
    const link = rig.sampleLink();
    await rig.caughtUp();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
    await chain.mine(5);
    await rig.caughtUp();
    await rig.hear(link);
    await rig.waitTold(link.id, 2);
    expect(rig.statuses(link.id)).toEqual(["processing 0.000005", "settled 0.000005"]);
  });
});
