import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import {
  type RpcFaultScript,
  type ScriptedRpc,
  openScriptedRpc,
} from "@payment-links/settlement-listener/testing/scripted-rpc";
import { type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const units = 1_000_000n;
const policyBlocks = 2;
const paymentCount = 4;

describe("a chain whose RPC providers fail", () => {
  let chain: Chain;
  let system: PaymentSystem;
  let first: ScriptedRpc;
  let second: ScriptedRpc;

  beforeAll(async () => {
    chain = await openChain({ slotsInEpoch: 2 });
    first = await openScriptedRpc({ target: chain.url });
    second = await openScriptedRpc({ target: chain.url });
    system = await openPaymentSystem({ chain, settings: { finality: { blocks: policyBlocks } } });
  });
  afterEach(async () => {
    first.heal();
    second.heal();
    await system.stopWatchers();
  });
  afterAll(async () => {
    await system?.close();
    await first?.close();
    await second?.close();
    await chain?.close();
  });

  const openLink = () => system.createLink({ toAmount: "1000" });

  /** Pays a link in each of a few blocks and lets the last one become final. */
  const payInTurn = async (link: { reference: string; to: string }): Promise<string[]> => {
    const hashes: string[] = [];
    for (let paid = 0; paid < paymentCount; paid += 1) {
      hashes.push(await chain.pay({ ...link, amount: 5n * units }));
      await chain.mine(2);
    }
    await chain.mine(policyBlocks);
    return hashes;
  };

  /** Nothing is missed and nothing doubled: each payment once, and the sum to the unit. */
  const expectAll = async (link: { id: string }, hashes: readonly string[]): Promise<void> => {
    await waitUntil(
      "everything has settled",
      async () => (await system.show(link.id)).receivedAmount === String(5 * hashes.length),
    );
    await chain.mine(policyBlocks);
    await system.scanAll();
    const { payments } = await system.show(link.id);
    expect(payments).toHaveLength(hashes.length);
    expect(new Set(payments.map(({ sourceTransaction }) => sourceTransaction))).toEqual(
      new Set(hashes),
    );
    expect(new Set(payments.map(({ status }) => status))).toEqual(new Set(["settled"]));
    expect((await system.progress()).haltedReason).toBeNull();
  };

  const passing: [string, RpcFaultScript, { times: number }][] = [
    ["empty logs, then full ones", { kind: "empty_logs" }, { times: 1 }],
    ["duplicate logs", { kind: "duplicate_logs" }, { times: Infinity }],
    ["a stale head", { kind: "stale_head", blockCount: 6 }, { times: 20 }],
    ["a storm of 429", { kind: "rate_limited" }, { times: 5 }],
    [
      "refusals of any range but one block",
      { kind: "range_limit", blocksMax: 1 },
      { times: Infinity },
    ],
    ["no batches", { kind: "no_batches" }, { times: Infinity }],
    ["receipts that are not there yet", { kind: "no_receipts" }, { times: 3 }],
    ["answers that are no JSON", { kind: "garbage" }, { times: 3 }],
  ];

  test.each(passing)("given %s, misses nothing and doubles nothing", async (_name, fault, when) => {
    await system.startWatcher([first.url]);
    const link = await openLink();
    await system.scanAll();
    const playing = first.play(fault, when);
    const hashes = await payInTurn(link);
    await waitUntil("the fault has struck", () => playing.struckCount() > 0);
    await expectAll(link, hashes);
  });

  // A node that returned the tag before and rejects it now stops the watch, so the fault comes first.
  test("given a node without a finalized tag, misses nothing and doubles nothing", async () => {
    const playing = first.play({ kind: "no_tags" });
    await system.startWatcher([first.url]);
    const link = await openLink();
    await system.scanAll();
    const hashes = await payInTurn(link);
    await waitUntil("the fault has struck", () => playing.struckCount() > 0);
    await expectAll(link, hashes);
  });

  test("given a head that goes back, takes nothing for gone", async () => {
    await system.startWatcher([first.url]);
    const link = await openLink();
    const hash = await chain.pay({ ...link, amount: 5n * units });
    await chain.mine();
    await system.showWhen(link.id, ({ payments }) => payments.length === 1);
    const playing = first.play({ kind: "stale_head", blockCount: 5 });
    await waitUntil("the head has gone back", () => playing.struckCount() > 20);
    expect(await system.show(link.id)).toMatchObject({ payments: [{ status: "processing" }] });
    playing.stop();
    await chain.mine(policyBlocks);
    await expectAll(link, [hash]);
  });

  test("given an answer that comes too late, asks again", async () => {
    await system.startWatcher([first.url]);
    const link = await openLink();
    await system.scanAll();
    const playing = first.play({ kind: "late", delayMs: 12_000 }, { times: 1 });
    const hashes = await payInTurn(link);
    await waitUntil("the fault has struck", () => playing.struckCount() > 0);
    await expectAll(link, hashes);
  });

  test("given all providers down and back, catches up with what came meanwhile", async () => {
    const urls = [first.url, second.url];
    await system.startWatcher(urls);
    const link = await openLink();
    await system.scanAll();
    const playing = [first.play({ kind: "down" }), second.play({ kind: "down" })];
    const hashes = await payInTurn(link);
    await waitUntil("both are down", () => playing.every((one) => one.struckCount() > 0));
    expect(await system.show(link.id)).toMatchObject({ payments: [] });
    for (const one of playing) one.stop();
    await expectAll(link, hashes);
  });

  test.each(["first", "second"])(
    "given two providers of which the %s sees no logs, believes the other and counts it",
    async (liar) => {
      const watcher = await system.startWatcher([first.url, second.url]);
      const link = await openLink();
      await system.scanAll();
      (liar === "first" ? first : second).play({ kind: "empty_logs" });
      const hashes = await payInTurn(link);
      await expectAll(link, hashes);
      const differences = async () =>
        (await watcher.metric("payment_links_chain_rpc_disagreements_total")) +
        (await watcher.metric("payment_links_chain_audit_differences_total"));
      await waitUntil("it is counted", async () => (await differences()) > 0);
    },
  );

  test("given empty logs of many final blocks, finds them by the second pass", async () => {
    const urls = [first.url, second.url];
    await (await system.startWatcher(urls)).stop();
    const link = await openLink();
    const hashes = await payInTurn(link);
    // More than are read with their headers, whose blooms would tell.
    await chain.mine(150);
    const playing = first.play({ kind: "empty_logs" });
    const watcher = await system.startWatcher(urls);
    await expectAll(link, hashes);
    expect(playing.struckCount()).toBeGreaterThan(0);
    const repaired = await watcher.metric("payment_links_chain_audit_differences_total");
    expect(repaired).toBe(hashes.length);
  });
});
