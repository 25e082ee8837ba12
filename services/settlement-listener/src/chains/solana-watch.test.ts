import { describe, expect, test } from "@jest/globals";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import { finalizedLag, startWatchedSolana, createOrder } from "../testing/start-watched-solana.ts";

const chain = useRig(startWatchedSolana);
const rig = useRigEach(() => startWatchRig(chain));

describe("the Solana watch", () => {
  test("reports a payment as processing once confirmed, and settles it once finalized (rules CHAIN-3 and CHAIN-4)", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signature = await chain.pay(createOrder(link));
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    chain.mine(finalizedLag - 1);
    await rig.waitUntilScanned();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
    chain.mine();
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      source: "chain:local-solana",
      status: "settled",
      amount: "2.5",
      tokenAddress: link.tokenAddress,
      destinationAddress: link.destinationAddress,
      sourceTransaction: signature,
      version: 2,
    });
  });

  test("reads a transaction of version 1 like any other, without delay", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signature = await chain.pay({ ...createOrder(link), isVersion1: true });
    chain.mine(finalizedLag + 1);
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      amount: "2.5",
      sourceTransaction: signature,
    });
  });

  test("reads slots without a block, without delay", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(createOrder(link));
    chain.skip(40);
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    chain.skip(3);
    chain.mine(finalizedLag);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("keeps one payment if it lands again on another fork", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signedTransaction = await chain.sign([createOrder(link)]);
    chain.send(signedTransaction);
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    chain.mine();
    await rig.waitUntilScanned();
    chain.reorg(2, [{ signature: signedTransaction.signature, offset: 1 }]);
    chain.mine(finalizedLag + 1);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("fails a payment that a fork drops once it can no longer land, and not before (rule CHAIN-5)", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(createOrder(link));
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    chain.reorg(1);
    chain.mine(100);
    await rig.waitUntilScanned();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
    chain.mine(60);
    // For the watch, the final block is the newest stored block that is final. It stores only the
    // last block of each step.
    await rig.waitUntilScanned();
    chain.mine(finalizedLag);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "failed 2.5"]);
  });
});
