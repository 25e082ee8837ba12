import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";
import { createHurriedClock } from "../../testing/short-rests.ts";

const chain = useRig(() => openChain({ slotsInEpoch: 4 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
const hurried = createHurriedClock();
const openTwo = async () => {
  for (let opened = 0; opened < 2; opened += 1) {
    rpcs.push(await openScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.map(({ url }) => url);
  rig = await openWatchRig(chain, { finality: "finalized" }, urls, hurried.clock);
  await rig.service.start();
  await rig.caughtUp();
  return rig;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** A payment that is seen, and whose nonce both providers have told. */
const paySeen = async (watch: WatchRig) => {
  const link = await watch.hearNew();
  // Nodes that lag still know an older transaction.
  await chain.pay({ reference: "00".repeat(16), to: owner, amount: 1n });
  await chain.mine();
  const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
  await chain.mine();
  await watch.waitTold(link.id, 1);
  await waitUntil("its nonce is known", () =>
    watch.pool.exists(nothing`
      SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
    `),
  );
  return { hash, link };
};

/** As on Avalanche: a block is final as soon as it is accepted. */
const acceptAsFinal = () => {
  for (const rpc of rpcs) rpc.play({ kind: "early_final" });
};

const receipt = "eth_getTransactionReceipt";

/** Nodes behind both addresses lag by some blocks, and answer some methods. */
const letLag = (methods: readonly string[], blockCount = 2) => {
  const lagging = rpcs.map((rpc) => rpc.play({ kind: "stale_head", blockCount }, { methods }));
  return {
    struckCount: () => Math.min(...lagging.map((one) => one.struckCount())),
    stop: () => {
      for (const one of lagging) one.stop();
    },
  };
};

describe("while nodes that lag answer behind the addresses of both providers", () => {
  test.each([
    ["receipts alone", [receipt]],
    ["whole requests for blocks and receipts", [receipt, "eth_getTransactionByHash"]],
  ])(
    "a payment in a final block never fails: they answer %s (rule CHAIN-5)",
    async (_, methods) => {
      const watch = await openTwo();
      const { link } = await paySeen(watch);
      await chain.mine();
      await watch.caughtUp();
      const lagging = letLag(methods);
      acceptAsFinal();
      await hurried.waitHurried(
        "receipts are asked for many times",
        () => lagging.struckCount() > 12 || watch.statuses(link.id).length > 1,
      );
      expect(watch.statuses(link.id)).toEqual(["processing 7"]);
      lagging.stop();
      await chain.mine(4);
      await watch.waitStatus(link.id, "settled");
      expect(watch.statuses(link.id)).toEqual(["processing 7", "settled 7"]);
    },
  );

  test("a payment that a reorg moved to another block never fails by its own nonce (rule CHAIN-5)", async () => {
    const watch = await openTwo();
    const { hash, link } = await paySeen(watch);
    const raw = await chain.rawOf(hash);
    await chain.reorg(1);
    await waitUntil("it is orphaned", () =>
      watch.pool.exists(nothing`
        SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND is_orphaned
      `),
    );
    const hiding = rpcs.map((rpc) => rpc.play({ kind: "empty_logs" }));
    await chain.mine();
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    const lagging = letLag([receipt], 3);
    acceptAsFinal();
    await hurried.waitHurried(
      "receipts are asked for many times",
      () => lagging.struckCount() > 12 || watch.statuses(link.id).length > 1,
    );
    expect(watch.statuses(link.id)).toEqual(["processing 7"]);
    for (const one of hiding) one.stop();
    lagging.stop();
    await chain.mine(4);
    await watch.waitStatus(link.id, "settled");
    expect(watch.statuses(link.id)).toEqual(["processing 7", "settled 7"]);
  });
});

test("a payment that was told as failed counts once its chain shows it again (rule STATE-6)", async () => {
  const watch = await openTwo();
  const { hash, link } = await paySeen(watch);
  await watch.pool.query(nothing`
    UPDATE payments SET status = 'failed', version = version + 1, block_number = NULL
    WHERE source_transaction = ${hash}
  `);
  await watch.pool.query(nothing`
    UPDATE chain_transfers SET is_orphaned = true WHERE transaction_hash = ${hash}
  `);
  // The second reading finds it.
  await chain.mine(12);
  await hurried.waitHurried("it settles", () => watch.statuses(link.id).length > 1);
  expect(watch.told(link.id).map(({ status, version }) => [status, version])).toEqual([
    ["processing", 1],
    ["settled", 3],
  ]);
});
