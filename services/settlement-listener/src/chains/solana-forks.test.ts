import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  startWatchedSolana,
  createOrder,
} from "../testing/start-watched-solana.ts";

let chain: WatchedSolana;
const rig = useRigEach(async (closeAfterTest) => {
  chain = closeAfterTest(await startWatchedSolana());
  return startWatchRig(chain);
});

describe("a Solana fork", () => {
  test("halts the chain if it reaches below a final block", async () => {
    await rig.receiveNewLink();
    await rig.waitUntilScanned();
    for (let index = 0; index < finalizedLag + 2; index += 1) {
      chain.mine();
      await rig.waitUntilScanned();
    }
    await waitUntil("blocks are final", async () => {
      const { finalizedTo, firstBlock } = await rig.readStatus();
      return (finalizedTo ?? 0) > (firstBlock ?? 0);
    });
    chain.reorg(chain.getHeight(), [], { breaksFinality: true });
    chain.mine();
    await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
  });

  test("moves a payment to a later slot while the service is stopped", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const signedTransaction = await chain.sign([createOrder(link)]);
    chain.send(signedTransaction);
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    await rig.service.stop();
    chain.reorg(1);
    chain.mine();
    chain.send(signedTransaction);
    chain.mine(finalizedLag + 1);
    await rig.service.start();
    await waitUntil(
      "it is settled",
      () => rig.publishedPayments(link.id).at(-1)?.status === "settled",
    );
    expect(new Set(rig.publishedPayments(link.id).map(({ id }) => id)).size).toBe(1);
    expect(rig.publishedPayments(link.id).at(-1)?.blockNumber).toBe(
      chain.findSlot(signedTransaction.signature),
    );
  });

  test("is followed when empty slots replace a block", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay(createOrder(link));
    chain.mine();
    await rig.waitForPublished(link.id, 1);
    const slot = chain.getHeadSlot();
    chain.reorg(1);
    chain.mine(finalizedLag + 1);
    await rig.waitUntilScanned();
    expect(chain.getHeadSlot()).toBeGreaterThan(slot);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("orphans nothing that settled below it, no matter how few blocks are stored", async () => {
    const link = await rig.receiveNewLink();
    const laterLink = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await rig.service.stop();
    // These blocks are read in one range, and only the last one is stored.
    await chain.pay(createOrder(link));
    chain.mine(finalizedLag + 2);
    await rig.service.start();
    await waitUntil(
      "it is settled",
      () => rig.publishedPayments(link.id).at(-1)?.status === "settled",
    );
    await rig.waitUntilScanned();
    await rig.service.stop();
    chain.reorg(2);
    chain.mine();
    await chain.pay(createOrder(laterLink));
    chain.mine(finalizedLag + 1);
    await rig.service.start();
    await waitUntil(
      "the later payment settles",
      () => rig.publishedPayments(laterLink.id).at(-1)?.status === "settled",
    );
    expect(await rig.metrics.metrics()).not.toMatch(
      /payment_links_chain_orphaned_after_settled_total\{[^}]*\} [1-9]/,
    );
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });
});
