import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { sqlVoid } from "@payment-links/postgres";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { withShortDelays } from "../../testing/short-delays.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
/** How long the `judge` job pauses after a failed run. */
const orphanCheckIntervalMs = 10_000;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** Starts a watch with this many providers, and waits until it has caught up. */
const startCaughtUpWatch = async (providerCount: number, clock = withShortDelays()) => {
  for (let providerIndex = 0; providerIndex < providerCount; providerIndex += 1) {
    rpcs.push(await startScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.map(({ url }) => url);
  rig = await createWatchRig(chain, { finality: "finalized" }, urls, clock);
  await rig.service.start();
  await rig.waitUntilScanned();
  return rig;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/**
 * Pays a link in the newest block, and waits until the payment is seen and two providers have
 * returned its nonce.
 */
const payAndWaitSeen = async (rig: WatchRig, payer: 0 | 1 | 2) => {
  const link = await rig.receiveNewLink();
  const payment = {
    reference: link.paymentReference,
    to: owner,
    amount: 7_000_000n,
    payer,
  } as const;
  const hash = await chain.pay(payment);
  await chain.mine();
  await rig.waitForPublished(link.id, 1);
  const isNonceKnown = () =>
    rig.pool.exists(sqlVoid`
      SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
    `);
  await waitUntil("the nonce is stored", isNonceKnown);
  return { link, hash };
};

/** Hides the receipts of all blocks so far on these nodes. They still return newer receipts. */
const hideReceiptsUpToNow = async (selectedRpcs: readonly ScriptedRpc[]) => {
  const beforeBlock = (await chain.readHeadNumber()) + 1;
  const playedFaults = selectedRpcs.map((rpc) =>
    rpc.injectFault({ kind: "no_receipts", beforeBlock }),
  );
  return {
    end: () => {
      for (const playedFault of playedFaults) playedFault.stop();
    },
  };
};

/**
 * Mines blocks with transactions until the newest ones are final, and waits for several more scan
 * steps.
 */
const mineAndCatchUp = async (rig: WatchRig): Promise<void> => {
  await chain.pay({ reference: "00".repeat(16), to: owner, amount: 1n });
  await chain.mine(finalBlocks + 2);
  await rig.waitUntilScanned();
  const countHeadRequests = () => rpcs[0]?.getCounts().methods.get("eth_blockNumber") ?? 0;
  const countBefore = countHeadRequests();
  await waitUntil("the chain is polled several times", () => countHeadRequests() > countBefore + 8);
};

const isOrphaned = ({ pool }: WatchRig, hash: Hex) =>
  pool.exists(sqlVoid`
    SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND is_orphaned
  `);

const isOrphanCheckFailing = async (rig: WatchRig): Promise<boolean> =>
  /payment_links_chain_duty_failing\{[^}]*duty="judge"[^}]*\} 1\n/.test(
    await rig.metrics.metrics(),
  );

describe("a payment from a time whose receipts the nodes have pruned", () => {
  test("waits with two nodes, which is reported, and settles once they return the receipt again", async () => {
    const rig = await startCaughtUpWatch(2);
    const { hash, link } = await payAndWaitSeen(rig, 0);
    const hiddenReceipts = await hideReceiptsUpToNow(rpcs);
    await mineAndCatchUp(rig);
    await mineAndCatchUp(rig);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    expect(await isOrphaned(rig, hash)).toBe(false);
    const warningText = "payments cannot settle, their receipts are missing";
    expect(rig.logLines.some((line) => line.includes(warningText))).toBe(true);
    hiddenReceipts.end();
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });

  test.each([1, 2])(
    "does not fail by its own used nonce after a reorg, when it is mined again, with %i nodes",
    async (providerCount) => {
      let [fixedElapsedMs, shiftMs]: [number | undefined, number] = [undefined, 0];
      const elapsedMs = () => fixedElapsedMs ?? systemClock.elapsedMs() + shiftMs;
      const rig = await startCaughtUpWatch(providerCount, { ...withShortDelays(), elapsedMs });
      const { hash, link } = await payAndWaitSeen(rig, 1);
      const raw = await chain.readRawTransaction(hash);
      await chain.reorg(1);
      await waitUntil("the payment is orphaned", () => isOrphaned(rig, hash));
      // Prevents the scan from finding the payment in its new block.
      const hiddenLogs = rpcs.map((rpc) => rpc.injectFault({ kind: "empty_logs" }));
      await chain.callRpc("eth_sendRawTransaction", [raw]);
      await chain.mine();
      const playedFaults = await hideReceiptsUpToNow(rpcs);
      await mineAndCatchUp(rig);
      await waitUntil(
        "the orphan check fails, or the payment is published again",
        async () => (await isOrphanCheckFailing(rig)) || rig.publishedStatuses(link.id).length > 1,
      );
      expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
      const countNonceRequests = () =>
        rpcs[0]?.getCounts().methods.get("eth_getTransactionCount") ?? 0;
      const recheckAt = async (atMs: number) => {
        const countBefore = countNonceRequests();
        fixedElapsedMs = atMs;
        await waitUntil(
          "the orphaned payment is checked again",
          () => countNonceRequests() > countBefore,
        );
      };
      const firstTurnMs = elapsedMs() + orphanCheckIntervalMs;
      await recheckAt(firstTurnMs);
      await mineAndCatchUp(rig);
      // This state can be permanent, so the job must pause instead of sending requests all the
      // time.
      fixedElapsedMs = firstTurnMs + orphanCheckIntervalMs - 1;
      const countWhilePaused = countNonceRequests();
      await mineAndCatchUp(rig);
      expect(countNonceRequests()).toBe(countWhilePaused);
      await recheckAt(firstTurnMs + orphanCheckIntervalMs);
      expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
      for (const playedFault of hiddenLogs) playedFault.stop();
      playedFaults.end();
      shiftMs = 4 * orphanCheckIntervalMs;
      fixedElapsedMs = undefined;
      await chain.mine();
      await rig.waitForStatus(link.id, "settled");
      expect(rig.publishedStatuses(link.id)).toEqual(["processing 7", "settled 7"]);
    },
  );

  test("waits with three nodes while only the last returns it, and settles once a second one does", async () => {
    const rig = await startCaughtUpWatch(3);
    const { hash, link } = await payAndWaitSeen(rig, 2);
    const [first, second] = rpcs;
    const firstHidden = await hideReceiptsUpToNow(rpcs.slice(0, 1));
    const secondHidden = await hideReceiptsUpToNow(rpcs.slice(1, 2));
    await mineAndCatchUp(rig);
    await mineAndCatchUp(rig);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    expect(await isOrphaned(rig, hash)).toBe(false);
    for (const rpc of [first, second]) {
      expect(rpc?.getCounts().hits.get("no_receipts")).toBeGreaterThan(0);
    }
    firstHidden.end();
    await rig.waitForStatus(link.id, "settled");
    secondHidden.end();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });
});
