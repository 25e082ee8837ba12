import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { createAcceleratedClock } from "../../testing/short-delays.ts";

const chain = useRig(() => startEvmChain({ slotsInEpoch: 4 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
const acceleratedClock = createAcceleratedClock();
const startWatchOverTwo = async () => {
  for (let providerIndex = 0; providerIndex < 2; providerIndex += 1) {
    rpcs.push(await startScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.map(({ url }) => url);
  rig = await createWatchRig(chain, { finality: "finalized" }, urls, acceleratedClock.clock);
  await rig.service.start();
  await rig.waitUntilScanned();
  return rig;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** Pays a link, and waits until the payment is seen and both providers have returned its nonce. */
const payAndWaitSeen = async (watch: WatchRig) => {
  const link = await watch.receiveNewLink();
  // Mines an older transaction first, which lagging nodes know.
  await chain.pay({ reference: "00".repeat(16), to: owner, amount: 1n });
  await chain.mine();
  const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
  await chain.mine();
  await watch.waitForPublished(link.id, 1);
  await waitUntil("the nonce is stored", () =>
    watch.pool.exists(sqlVoid`
      SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
    `),
  );
  return { hash, link };
};

/** Finalizes each block as soon as it is accepted, as Avalanche does. */
const finalizeImmediately = () => {
  for (const rpc of rpcs) rpc.injectFault({ kind: "early_final" });
};

const receiptMethod = "eth_getTransactionReceipt";

/** Makes the nodes of both URLs lag by some blocks when they answer these methods. */
const startLagging = (methods: readonly string[], blockCount = 2) => {
  const playedLags = rpcs.map((rpc) =>
    rpc.injectFault({ kind: "stale_head", blockCount }, { methods }),
  );
  return {
    struckCount: () => Math.min(...playedLags.map((playedFault) => playedFault.getHitCount())),
    stop: () => {
      for (const playedFault of playedLags) playedFault.stop();
    },
  };
};

describe("while lagging nodes answer behind the URLs of both providers", () => {
  test.each([
    ["only receipts", [receiptMethod]],
    ["whole requests for blocks and receipts", [receiptMethod, "eth_getTransactionByHash"]],
  ])(
    "a payment in a final block never fails: they answer %s (rule CHAIN-5)",
    async (_, methods) => {
      const watch = await startWatchOverTwo();
      const { link } = await payAndWaitSeen(watch);
      await chain.mine();
      await watch.waitUntilScanned();
      const playedLags = startLagging(methods);
      finalizeImmediately();
      await acceleratedClock.waitAccelerated(
        "receipts are requested many times",
        () => playedLags.struckCount() > 12 || watch.publishedStatuses(link.id).length > 1,
      );
      expect(watch.publishedStatuses(link.id)).toEqual(["processing 7"]);
      playedLags.stop();
      await chain.mine(4);
      await watch.waitForStatus(link.id, "settled");
      expect(watch.publishedStatuses(link.id)).toEqual(["processing 7", "settled 7"]);
    },
  );

  test("a payment that a reorg moved to another block never fails by its own nonce (rule CHAIN-5)", async () => {
    const watch = await startWatchOverTwo();
    const { hash, link } = await payAndWaitSeen(watch);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await waitUntil("the payment is orphaned", () =>
      watch.pool.exists(sqlVoid`
        SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND is_orphaned
      `),
    );
    const hiddenLogs = rpcs.map((rpc) => rpc.injectFault({ kind: "empty_logs" }));
    await chain.mine();
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    const lag = startLagging([receiptMethod], 3);
    finalizeImmediately();
    await acceleratedClock.waitAccelerated(
      "receipts are requested many times",
      () => lag.struckCount() > 12 || watch.publishedStatuses(link.id).length > 1,
    );
    expect(watch.publishedStatuses(link.id)).toEqual(["processing 7"]);
    for (const playedFault of hiddenLogs) playedFault.stop();
    lag.stop();
    await chain.mine(4);
    await watch.waitForStatus(link.id, "settled");
    expect(watch.publishedStatuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });
});

test("a payment published as failed is applied once its chain shows it again (rule STATE-6)", async () => {
  const watch = await startWatchOverTwo();
  const { hash, link } = await payAndWaitSeen(watch);
  await watch.pool.query(sqlVoid`
    UPDATE payments SET status = 'failed', version = version + 1, block_number = NULL
    WHERE source_transaction = ${hash}
  `);
  await watch.pool.query(sqlVoid`
    UPDATE chain_transfers SET is_orphaned = true WHERE transaction_hash = ${hash}
  `);
  // The audit finds it.
  await chain.mine(12);
  await acceleratedClock.waitAccelerated(
    "the payment is published again",
    () => watch.publishedStatuses(link.id).length > 1,
  );
  expect(watch.publishedPayments(link.id).map(({ status, version }) => [status, version])).toEqual([
    ["processing", 1],
    ["settled", 3],
  ]);
});
