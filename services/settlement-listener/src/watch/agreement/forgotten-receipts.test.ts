import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { nothing } from "@payment-links/postgres";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { withShortRests } from "../../testing/short-rests.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
/** The judge duty rests for so long after a turn that failed. */
const judgeRestMs = 10_000;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** A watch over so many providers that has caught up. */
const open = async (providerCount: number, clock = withShortRests()) => {
  for (let opened = 0; opened < providerCount; opened += 1) {
    rpcs.push(await openScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.map(({ url }) => url);
  rig = await openWatchRig(chain, { finality: "finalized" }, urls, clock);
  await rig.service.start();
  await rig.caughtUp();
  return rig;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** A payment in the newest block that is seen, and whose nonce two have told. */
const paySeen = async (rig: WatchRig, payer: 0 | 1 | 2) => {
  const link = await rig.hearNew();
  const order = { reference: link.paymentReference, to: owner, amount: 7_000_000n, payer } as const;
  const hash = await chain.pay(order);
  await chain.mine();
  await rig.waitTold(link.id, 1);
  const isKnown = () =>
    rig.pool.exists(nothing`
      SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
    `);
  await waitUntil("its nonce is learnt", isKnown);
  return { link, hash };
};

/** These nodes tell no receipt any more of what was mined up to now, and go on telling newer ones. */
const forgetUpToNow = async (some: readonly ScriptedRpc[]) => {
  const beforeBlock = (await chain.headNumber()) + 1;
  const forgetting = some.map((rpc) => rpc.play({ kind: "no_receipts", beforeBlock }));
  return {
    end: () => {
      for (const one of forgetting) one.stop();
    },
  };
};

/** Blocks with transactions go by until the newest of now are final, and the watch takes several more steps. */
const letBlocksPass = async (rig: WatchRig): Promise<void> => {
  await chain.pay({ reference: "00".repeat(16), to: owner, amount: 1n });
  await chain.mine(finalBlocks + 2);
  await rig.caughtUp();
  const asked = () => rpcs[0]?.counts().methods.get("eth_blockNumber") ?? 0;
  const before = asked();
  await waitUntil("some steps are taken", () => asked() > before + 8);
};

const isOrphaned = ({ pool }: WatchRig, hash: Hex) =>
  pool.exists(nothing`
    SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND is_orphaned
  `);

const judgeFails = async (rig: WatchRig): Promise<boolean> =>
  /payment_links_chain_duty_failing\{[^}]*duty="judge"[^}]*\} 1\n/.test(
    await rig.metrics.metrics(),
  );

describe("a payment of whose time the nodes tell no receipts any more", () => {
  test("of two nodes: it waits, which is told, and settles once they tell it again", async () => {
    const rig = await open(2);
    const { hash, link } = await paySeen(rig, 0);
    const forgetting = await forgetUpToNow(rpcs);
    await letBlocksPass(rig);
    await letBlocksPass(rig);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    expect(await isOrphaned(rig, hash)).toBe(false);
    const waits = "payments are due, and their receipts are not there";
    expect(rig.logLines.some((line) => line.includes(waits))).toBe(true);
    forgetting.end();
    await rig.waitStatus(link.id, "settled");
    expect(rig.statuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });

  test.each([1, 2])(
    "after a reorg and mined again, of %i: it has not failed by the nonce that it used itself",
    async (providerCount) => {
      let [heldMs, shiftMs]: [number | undefined, number] = [undefined, 0];
      const elapsedMs = () => heldMs ?? systemClock.elapsedMs() + shiftMs;
      const rig = await open(providerCount, { ...withShortRests(), elapsedMs });
      const { hash, link } = await paySeen(rig, 1);
      const raw = await chain.rawOf(hash);
      await chain.reorg(1);
      await waitUntil("it is orphaned", () => isOrphaned(rig, hash));
      // So it is not seen where it stands again.
      const hiding = rpcs.map((rpc) => rpc.play({ kind: "empty_logs" }));
      await chain.ask("eth_sendRawTransaction", [raw]);
      await chain.mine();
      const forgetting = await forgetUpToNow(rpcs);
      await letBlocksPass(rig);
      await waitUntil(
        "it is told that nobody can judge it",
        async () => (await judgeFails(rig)) || rig.statuses(link.id).length > 1,
      );
      expect(rig.statuses(link.id)).toEqual(["processing 7"]);
      const judgedCount = () => rpcs[0]?.counts().methods.get("eth_getTransactionCount") ?? 0;
      const judgeAgainAt = async (atMs: number) => {
        const before = judgedCount();
        heldMs = atMs;
        await waitUntil("it is judged again", () => judgedCount() > before);
      };
      const firstTurnMs = elapsedMs() + judgeRestMs;
      await judgeAgainAt(firstTurnMs);
      await letBlocksPass(rig);
      // It may stay so for good, and is no reason to ask all the time.
      heldMs = firstTurnMs + judgeRestMs - 1;
      const restedCount = judgedCount();
      await letBlocksPass(rig);
      expect(judgedCount()).toBe(restedCount);
      await judgeAgainAt(firstTurnMs + judgeRestMs);
      expect(rig.statuses(link.id)).toEqual(["processing 7"]);
      for (const one of hiding) one.stop();
      forgetting.end();
      shiftMs = 4 * judgeRestMs;
      heldMs = undefined;
      await chain.mine();
      await rig.waitStatus(link.id, "settled");
      expect(rig.statuses(link.id)).toEqual(["processing 7", "settled 7"]);
    },
  );

  test("of three nodes the last tells it: it waits for a second word, and settles with that", async () => {
    const rig = await open(3);
    const { hash, link } = await paySeen(rig, 2);
    const [first, second] = rpcs;
    const ofFirst = await forgetUpToNow(rpcs.slice(0, 1));
    const ofSecond = await forgetUpToNow(rpcs.slice(1, 2));
    await letBlocksPass(rig);
    await letBlocksPass(rig);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    expect(await isOrphaned(rig, hash)).toBe(false);
    for (const rpc of [first, second]) {
      expect(rpc?.counts().struck.get("no_receipts")).toBeGreaterThan(0);
    }
    ofFirst.end();
    await rig.waitStatus(link.id, "settled");
    ofSecond.end();
    expect(rig.statuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });
});
