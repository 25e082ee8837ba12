import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  openWatchedSolana,
  orderOf,
} from "../../testing/open-watched-solana.ts";

let chain: WatchedSolana;
const rig = useRigEach(async (keep) => {
  chain = keep(await openWatchedSolana());
  return startWatchRig(chain);
});

describe("a fork of Solana", () => {
  test("that reaches below a final block halts the chain", async () => {
    await rig.hearNew();
    await rig.caughtUp();
    for (let made = 0; made < finalizedLag + 2; made += 1) {
      chain.mine();
      await rig.caughtUp();
    }
    await waitUntil("blocks are final", async () => {
      const { finalizedTo, firstBlock } = await rig.readStatus();
      return (finalizedTo ?? 0) > (firstBlock ?? 0);
    });
    chain.reorg(chain.height(), [], { breaksFinality: true });
    chain.mine();
    await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
  });

  test("takes away a payment while nobody watches, and gives it back in a later slot", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const signed = await chain.sign([orderOf(link)]);
    chain.send(signed);
    chain.mine();
    await rig.waitTold(link.id, 1);
    await rig.service.stop();
    chain.reorg(1);
    chain.mine();
    chain.send(signed);
    chain.mine(finalizedLag + 1);
    await rig.service.start();
    await waitUntil("it is settled", () => rig.told(link.id).at(-1)?.status === "settled");
    expect(new Set(rig.told(link.id).map(({ id }) => id)).size).toBe(1);
    expect(rig.told(link.id).at(-1)?.blockNumber).toBe(chain.slotOf(signed.signature));
  });

  test("empty slots where a block was count as another block", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(orderOf(link));
    chain.mine();
    await rig.waitTold(link.id, 1);
    const slot = chain.head();
    chain.reorg(1);
    chain.mine(finalizedLag + 1);
    await rig.caughtUp();
    expect(chain.head()).toBeGreaterThan(slot);
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("takes nothing away that settled below it, however few blocks are kept", async () => {
    const link = await rig.hearNew();
    const later = await rig.hearNew();
    await rig.caughtUp();
    await rig.service.stop();
    // Read in one range, of which only the last block is kept.
    await chain.pay(orderOf(link));
    chain.mine(finalizedLag + 2);
    await rig.service.start();
    await waitUntil("it is settled", () => rig.told(link.id).at(-1)?.status === "settled");
    await rig.caughtUp();
    await rig.service.stop();
    chain.reorg(2);
    chain.mine();
    await chain.pay(orderOf(later));
    chain.mine(finalizedLag + 1);
    await rig.service.start();
    await waitUntil("what follows settles", () => rig.told(later.id).at(-1)?.status === "settled");
    expect(await rig.metrics.metrics()).not.toMatch(
      /payment_links_chain_orphaned_after_settled_total\{[^}]*\} [1-9]/,
    );
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });
});
