import { describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  startWatchedSolana,
  createOrder,
} from "../testing/start-watched-solana.ts";
import type { SolanaNode } from "@payment-links/local-chains/solana/start-solana-chain";

let chain: WatchedSolana;
let secondNode: SolanaNode;
const rig = useRigEach(async (closeAfterTest) => {
  chain = closeAfterTest(await startWatchedSolana());
  secondNode = await chain.startNode();
  return startWatchRig(chain, {}, [chain.url, secondNode.url]);
});

const isOrphaned = (signature: string) =>
  rig.pool.exists(sqlVoid`
    SELECT FROM chain_transfers WHERE transaction_hash = ${signature} AND is_orphaned
  `);

describe("two Solana nodes", () => {
  test("must both know a payment before it settles", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signature = await chain.pay(createOrder(link));
    secondNode.hideTransaction(signature);
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    const knownLink = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(createOrder(knownLink));
    chain.mine(finalizedLag + 1);
    await waitUntil(
      "what both know settles",
      () => rig.publishedPayments(knownLink.id).at(-1)?.status === "settled",
    );
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("report a payment while one of them lags, and settle it once that node is back", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    secondNode.freeze();
    await chain.pay(createOrder(link));
    chain.mine(finalizedLag + 2);
    await rig.waitForPublished(link.id, 1);
    await rig.waitUntilScanned();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
    secondNode.resume();
    chain.mine();
    await rig.waitForPublished(link.id, 2);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("keep a payment processing if both pruned it before its link arrived, and settle it once they have it again", async () => {
    const { destinationAddress } = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const link = rig.sampleLink({ destinationAddress });
    const signature = await chain.pay(createOrder(link));
    const paidSlot = chain.mine();
    await waitUntil("its block is audited", async () => {
      chain.mine();
      await rig.waitUntilScanned();
      return ((await rig.readStatus()).auditedTo ?? 0) > paidSlot;
    });
    for (const node of [chain.node, secondNode]) node.prune(paidSlot + 1);
    chain.mine(160);
    await rig.waitUntilScanned();
    await rig.receiveLinks(link);
    await rig.waitForPublished(link.id, 1);
    await waitUntil("the log reports the missing receipts", async () => {
      chain.mine();
      await rig.waitUntilScanned();
      const waitingMessage = "payments cannot settle, their receipts are missing";
      return (
        rig.logLines.some((line) => line.includes(waitingMessage)) ||
        rig.publishedPayments(link.id).length > 1
      );
    });
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
    expect(await isOrphaned(signature)).toBe(false);
    chain.node.restore();
    secondNode.restore();
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("find a payment that the first one left out, because the other one serves the audit", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signature = await chain.pay(createOrder(link));
    chain.node.hideTransaction(signature);
    chain.mine();
    await rig.waitUntilScanned();
    expect(rig.publishedPayments(link.id)).toEqual([]);
    for (let index = 0; index < finalizedLag + 2; index += 1) {
      chain.mine();
      await rig.waitUntilScanned();
    }
    await rig.waitForPublished(link.id, 1);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("find a payment that was made and audited before its owner was received", async () => {
    await rig.waitUntilScanned();
    const link = rig.sampleLink();
    const signature = await chain.pay(createOrder(link));
    chain.node.hideTransaction(signature);
    const paidSlot = chain.getHeadSlot();
    await waitUntil("its block is audited", async () => {
      chain.mine();
      await rig.waitUntilScanned();
      return ((await rig.readStatus()).auditedTo ?? 0) > paidSlot;
    });
    await rig.receiveLinks(link);
    await waitUntil("the payment is published", async () => {
      chain.mine();
      await rig.waitUntilScanned();
      return rig.publishedPayments(link.id).length > 0;
    });
    expect(rig.publishedPayments(link.id)).toMatchObject([
      { amount: "2.5", sourceTransaction: signature },
    ]);
  });
});
