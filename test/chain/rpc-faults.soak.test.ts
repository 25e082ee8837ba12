import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import {
  type ScriptedFault,
  type ScriptedRpc,
  startScriptedRpc,
} from "@payment-links/chains/testing/scripted-rpc";
import { type PaymentSystem, createPaymentSystem } from "../rig/payment-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const baseUnitsPerToken = 1_000_000n;
const finalityBlocks = 2;
const paymentCount = 4;

describe("a chain with faulty RPC providers", () => {
  let chain: LocalEvmChain;
  let system: PaymentSystem;
  let firstRpc: ScriptedRpc;
  let secondRpc: ScriptedRpc;

  beforeAll(async () => {
    chain = await startEvmChain({ slotsInEpoch: 2 });
    firstRpc = await startScriptedRpc({ target: chain.url });
    secondRpc = await startScriptedRpc({ target: chain.url });
    system = await createPaymentSystem({
      chain,
      settings: { finality: { blocks: finalityBlocks } },
    });
  });
  afterEach(async () => {
    firstRpc.clearFaults();
    secondRpc.clearFaults();
    await system.stopWatchers();
  });
  afterAll(async () => {
    await system?.close();
    await firstRpc?.close();
    await secondRpc?.close();
    await chain?.close();
  });

  const createLink = () => system.createLink({ toAmount: "1000" });

  /** Pays a link in each of a few blocks and waits until the last one is final. */
  const payInSuccessiveBlocks = async (link: {
    reference: string;
    to: string;
  }): Promise<string[]> => {
    const hashes: string[] = [];
    for (let index = 0; index < paymentCount; index += 1) {
      hashes.push(await chain.pay({ ...link, amount: 5n * baseUnitsPerToken }));
      await chain.mine(2);
    }
    await chain.mine(finalityBlocks);
    return hashes;
  };

  /** Expects that each payment is applied exactly once and that the total is correct. */
  const expectAllApplied = async (
    link: { id: string },
    hashes: readonly string[],
  ): Promise<void> => {
    await waitUntil(
      "all payments have settled",
      async () => (await system.readLink(link.id)).receivedAmount === String(5 * hashes.length),
    );
    await chain.mine(finalityBlocks);
    await system.waitUntilScanned();
    const { payments } = await system.readLink(link.id);
    expect(payments).toHaveLength(hashes.length);
    expect(new Set(payments.map(({ sourceTransaction }) => sourceTransaction))).toEqual(
      new Set(hashes),
    );
    expect(new Set(payments.map(({ status }) => status))).toEqual(new Set(["settled"]));
    expect((await system.readProgress()).haltedReason).toBeNull();
  };

  const transientFaults: [string, ScriptedFault, { times: number }][] = [
    ["empty logs, then full ones", { kind: "empty_logs" }, { times: 1 }],
    ["duplicate logs", { kind: "duplicate_logs" }, { times: Infinity }],
    ["a stale head", { kind: "stale_head", blockCount: 6 }, { times: 20 }],
    ["many 429 responses", { kind: "rate_limited" }, { times: 5 }],
    [
      "rejections of ranges of more than one block",
      { kind: "range_limit", blocksMax: 1 },
      { times: Infinity },
    ],
    ["no batch support", { kind: "no_batches" }, { times: Infinity }],
    ["receipts that are not available yet", { kind: "no_receipts" }, { times: 3 }],
    ["responses that are not JSON", { kind: "garbage" }, { times: 3 }],
    ["a response that comes too late", { kind: "late", delayMs: 12_000 }, { times: 1 }],
  ];

  test.each(transientFaults)(
    "given %s, misses and duplicates nothing",
    async (_name, fault, schedule) => {
      await system.startWatcher([firstRpc.url]);
      const link = await createLink();
      await system.waitUntilScanned();
      const activeFault = firstRpc.injectFault(fault, schedule);
      const hashes = await payInSuccessiveBlocks(link);
      await waitUntil("the fault occurs", () => activeFault.getHitCount() > 0);
      await expectAllApplied(link, hashes);
    },
  );

  // The fault starts first, because the watch halts if a node returns the tag at first and rejects
  // it later.
  test("given a node without a finalized tag, misses and duplicates nothing", async () => {
    const activeFault = firstRpc.injectFault({ kind: "no_tags" });
    await system.startWatcher([firstRpc.url]);
    const link = await createLink();
    await system.waitUntilScanned();
    const hashes = await payInSuccessiveBlocks(link);
    await waitUntil("the fault occurs", () => activeFault.getHitCount() > 0);
    await expectAllApplied(link, hashes);
  });

  test("given a head that goes back, does not drop any payment", async () => {
    await system.startWatcher([firstRpc.url]);
    const link = await createLink();
    const hash = await chain.pay({ ...link, amount: 5n * baseUnitsPerToken });
    await chain.mine();
    await system.waitForLink(link.id, ({ payments }) => payments.length === 1);
    const activeFault = firstRpc.injectFault({ kind: "stale_head", blockCount: 5 });
    await waitUntil("the head goes back", () => activeFault.getHitCount() > 20);
    expect(await system.readLink(link.id)).toMatchObject({ payments: [{ status: "processing" }] });
    activeFault.stop();
    await chain.mine(finalityBlocks);
    await expectAllApplied(link, [hash]);
  });

  test("given an outage of all providers, catches up afterwards", async () => {
    const urls = [firstRpc.url, secondRpc.url];
    await system.startWatcher(urls);
    const link = await createLink();
    await system.waitUntilScanned();
    const activeFaults = [
      firstRpc.injectFault({ kind: "down" }),
      secondRpc.injectFault({ kind: "down" }),
    ];
    const hashes = await payInSuccessiveBlocks(link);
    await waitUntil("both are down", () => activeFaults.every((fault) => fault.getHitCount() > 0));
    expect(await system.readLink(link.id)).toMatchObject({ payments: [] });
    for (const fault of activeFaults) fault.stop();
    await expectAllApplied(link, hashes);
  });

  test.each(["first", "second"])(
    "when the %s of two providers returns no logs, uses the other one and reports the difference",
    async (faultyProvider) => {
      const watcher = await system.startWatcher([firstRpc.url, secondRpc.url]);
      const link = await createLink();
      await system.waitUntilScanned();
      (faultyProvider === "first" ? firstRpc : secondRpc).injectFault({ kind: "empty_logs" });
      const hashes = await payInSuccessiveBlocks(link);
      await expectAllApplied(link, hashes);
      const countDifferences = async () =>
        (await watcher.readMetric("payment_links_chain_rpc_disagreements_total")) +
        (await watcher.readMetric("payment_links_chain_audit_differences_total"));
      await waitUntil("the difference is counted", async () => (await countDifferences()) > 0);
    },
  );

  test("given empty logs for many final blocks, finds the payments by the audit", async () => {
    const urls = [firstRpc.url, secondRpc.url];
    await (await system.startWatcher(urls)).stop();
    const link = await createLink();
    const hashes = await payInSuccessiveBlocks(link);
    // There are more blocks than the watcher reads with their headers. The bloom filters in the
    // headers would reveal the fault.
    await chain.mine(150);
    const activeFault = firstRpc.injectFault({ kind: "empty_logs" });
    const watcher = await system.startWatcher(urls);
    await expectAllApplied(link, hashes);
    expect(activeFault.getHitCount()).toBeGreaterThan(0);
    const repairedCount = await watcher.readMetric("payment_links_chain_audit_differences_total");
    expect(repairedCount).toBe(hashes.length);
  });
});
