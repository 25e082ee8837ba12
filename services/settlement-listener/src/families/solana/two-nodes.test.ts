import { describe, expect, test } from "@jest/globals";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRigEach } from "@payment-links/runtime/testing/use-rig";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import {
  type WatchedSolana,
  finalizedLag,
  openWatchedSolana,
  orderOf,
} from "../../testing/open-watched-solana.ts";
import type { SolanaNode } from "../../testing/solana/open-solana-chain.ts";

let chain: WatchedSolana;
let second: SolanaNode;
const rig = useRigEach(async (keep) => {
  chain = keep(await openWatchedSolana());
  second = await chain.openNode();
  return startWatchRig(chain, {}, [chain.url, second.url]);
});

const isOrphaned = (signature: string) =>
  rig.pool.exists(nothing`
    SELECT FROM chain_transfers WHERE transaction_hash = ${signature} AND is_orphaned
  `);

describe("of two nodes", () => {
  test("both must know a payment before it settles", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const signature = await chain.pay(orderOf(link));
    second.forget(signature);
    chain.mine();
    await rig.waitTold(link.id, 1);
    const sure = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay(orderOf(sure));
    chain.mine(finalizedLag + 1);
    await waitUntil("what both know settles", () => rig.told(sure.id).at(-1)?.status === "settled");
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("one that stays behind settles nothing, and holds up what is seen; both do once it is back", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    second.freeze();
    await chain.pay(orderOf(link));
    chain.mine(finalizedLag + 2);
    await rig.waitTold(link.id, 1);
    await rig.caughtUp();
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
    second.goOn();
    chain.mine();
    await rig.waitTold(link.id, 2);
    expect(rig.statuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("both have pruned what was paid before its link was heard of: it waits, and settles once they have it", async () => {
    const { destinationAddress } = await rig.hearNew();
    await rig.caughtUp();
    const link = rig.sampleLink({ destinationAddress });
    const signature = await chain.pay(orderOf(link));
    const paidIn = chain.mine();
    await waitUntil("its block is audited", async () => {
      chain.mine();
      await rig.caughtUp();
      return ((await rig.readStatus()).auditedTo ?? 0) > paidIn;
    });
    for (const node of [chain.node, second]) node.prune(paidIn + 1);
    chain.mine(160);
    await rig.caughtUp();
    await rig.hear(link);
    await rig.waitTold(link.id, 1);
    await waitUntil("it is told that it waits", async () => {
      chain.mine();
      await rig.caughtUp();
      const waits = "payments are due, and their receipts are not there";
      return rig.logLines.some((line) => line.includes(waits)) || rig.told(link.id).length > 1;
    });
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
    expect(await isOrphaned(signature)).toBe(false);
    chain.node.restore();
    second.restore();
    await rig.waitStatus(link.id, "settled");
    expect(rig.statuses(link.id)).toEqual(["processing 2.5", "settled 2.5"]);
  });

  test("the other one audits: it finds what the first left out", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const signature = await chain.pay(orderOf(link));
    chain.node.forget(signature);
    chain.mine();
    await rig.caughtUp();
    expect(rig.told(link.id)).toEqual([]);
    for (let made = 0; made < finalizedLag + 2; made += 1) {
      chain.mine();
      await rig.caughtUp();
    }
    await rig.waitTold(link.id, 1);
    expect(rig.statuses(link.id)).toEqual(["processing 2.5"]);
  });

  test("the other one audits what was made before its owner was heard of, and is audited by now", async () => {
    await rig.caughtUp();
    const link = rig.sampleLink();
    const signature = await chain.pay(orderOf(link));
    chain.node.forget(signature);
    const paidIn = chain.head();
    await waitUntil("its block is audited", async () => {
      chain.mine();
      await rig.caughtUp();
      return ((await rig.readStatus()).auditedTo ?? 0) > paidIn;
    });
    await rig.hear(link);
    await waitUntil("it is told", async () => {
      chain.mine();
      await rig.caughtUp();
      return rig.told(link.id).length > 0;
    });
    expect(rig.told(link.id)).toMatchObject([{ amount: "2.5", sourceTransaction: signature }]);
  });
});
