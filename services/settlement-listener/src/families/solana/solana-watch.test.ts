import { describe, expect, test } from "@jest/globals";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../../testing/create-watch-rig.ts";
import {
  finalizedLag,
  startWatchedSolana,
  createOrder,
} from "../../testing/start-watched-solana.ts";

const chain = useRig(startWatchedSolana);
const rig = useRigEach(() => startWatchRig(chain));

describe("watching Solana", () => {
  test("a payment is processing once it is confirmed, and settled once it is finalized (rules CHAIN-3 and CHAIN-4)", async () => {
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

  test("a transaction of version 1 is read as any other, and holds up nothing", async () => {
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

  test("slots without a block are read as well, and hold up nothing", async () => {
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

  test("a payment that lands again on another fork stays one payment", async () => {
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

  test("a payment that a fork drops fails once it cannot land any more, and not before (rule CHAIN-5)", async () => {
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
    // What is final is the newest block that the watch has kept: the last of a step.
    await rig.waitUntilScanned();
    chain.mine(finalizedLag);
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "failed 2.5"]);
  });

  test("a payment that came before its link was heard of is found", async () => {
    await rig.waitUntilScanned();
    const link = rig.sampleLink();
    await chain.pay(createOrder(link));
    chain.mine(finalizedLag + 2);
    await rig.waitUntilScanned();
    await rig.receiveLinks(link);
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    chain.mine();
    await rig.waitForPublished(
      link.id,
      rig.publishedPayments(link.id).at(-1)?.status === "settled" ? 1 : 2,
    );
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      status: "settled",
      amount: "2.5",
    });
  });
});
