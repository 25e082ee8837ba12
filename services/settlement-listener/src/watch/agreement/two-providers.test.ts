import { type Hex, keccak256 } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../../service.ts";
import { hideLogs } from "../../testing/hide-logs.ts";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { misplaceLog } from "../../testing/misplace-log.ts";

/** `finalized` is eight blocks behind the head, `safe` four. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/**
 * Starts a watch with this many providers, all with the same correct node, and waits until it has
 * caught up.
 */
const startCaughtUpWatch = async (
  providerCount: number,
  settings: Parameters<typeof createWatchRig>[1] = { finality: "finalized" },
) => {
  for (let providerIndex = 0; providerIndex < providerCount; providerIndex += 1) {
    rpcs.push(await startScriptedRpc({ target: chain.url }));
  }
  rig = await createWatchRig(
    chain,
    settings,
    rpcs.map(({ url }) => url),
  );
  await rig.service.start();
  await rig.waitUntilScanned();
  const [first, second = chain.url] = rpcs;
  if (first === undefined || typeof second === "string") throw new Error("a provider is missing");
  return { rig, first, second };
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** Creates a link and pays it 7 USDC in the newest block. */
const payNewLink = async (rig: WatchRig, payer: 0 | 1 | 2 = 0) => {
  const link = await rig.receiveNewLink();
  const hash = await chain.pay({
    reference: link.paymentReference,
    to: owner,
    amount: 7_000_000n,
    payer,
  });
  await chain.mine();
  return { link, hash };
};

/** Restarts the service on the same database. */
const restartService = async (rig: WatchRig, config = rig.config) => {
  const restartedService = createSettlementListener(
    { ...rig.context, metrics: createMetrics("again") },
    config,
  );
  await restartedService.start();
  return restartedService;
};

const waitUntilSettled = (rig: WatchRig, linkId: string, amount = "7") =>
  waitUntil("the payment is settled", () =>
    rig.publishedStatuses(linkId).includes(`settled ${amount}`),
  );

/** Mines blocks until the newest ones are final, and waits for several more scan steps. */
const mineAndCatchUp = async (rig: WatchRig, rpc: ScriptedRpc): Promise<void> => {
  await chain.mine(finalBlocks + 2);
  await rig.waitUntilScanned();
  const countRequests = () => rpc.getCounts().methods.get("eth_blockNumber") ?? 0;
  const countBefore = countRequests();
  await waitUntil("the chain is polled several times", () => countRequests() > countBefore + 5);
};

const matchesMetric = async (rig: WatchRig, pattern: RegExp): Promise<boolean> =>
  pattern.test(await rig.metrics.metrics());

describe("with two providers", () => {
  test("payments are seen but do not settle while one provider is down, which is reported, and settle afterwards (rule CHAIN-4)", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    const outage = second.injectFault({ kind: "down" });
    const { link } = await payNewLink(rig);
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    const { finalizedTo, reason, scannedTo } = await rig.readStatus();
    expect(reason).toBe("the providers do not agree: nothing settles");
    expect(scannedTo).toBe(await chain.readHeadNumber());
    expect(finalizedTo).toBeLessThan((scannedTo ?? 0) - finalBlocks);
    expect(await matchesMetric(rig, /payment_links_chain_providers\{[^}]*\} 2\n/)).toBe(true);
    expect(await matchesMetric(rig, /payment_links_chain_agreeing_providers\{[^}]*\} 1\n/)).toBe(
      true,
    );
    outage.stop();
    await waitUntilSettled(rig, link.id);
    await waitUntil("the providers agree", async () => (await rig.readStatus()).reason === null);
    expect(await matchesMetric(rig, /payment_links_chain_agreeing_providers\{[^}]*\} 2\n/)).toBe(
      true,
    );
  });

  test("the second provider shows payments while the first is down, and they settle afterwards", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    const outage = first.injectFault({ kind: "down" });
    const { link } = await payNewLink(rig);
    await mineAndCatchUp(rig, second);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    outage.stop();
    await waitUntilSettled(rig, link.id);
  });

  test("many final blocks that one provider shows while the other is down are seen, and settle later", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    await rig.service.stop();
    const { link } = await payNewLink(rig);
    // This is more than the number of blocks that are read with headers.
    await chain.mine(150);
    const outage = second.injectFault({ kind: "down" });
    const restartedService = await restartService(rig);
    await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length > 0);
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    outage.stop();
    await waitUntilSettled(rig, link.id);
    await restartedService.stop();
  });

  test("nothing is orphaned if the only reachable provider lags behind a range that was read in one request", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    await rig.service.stop();
    const { link } = await payNewLink(rig);
    // This is more than the number of blocks that are read with headers, so only the last one is
    // stored. The second provider has not reached it.
    await chain.mine(150);
    second.injectFault({ kind: "stale_head", blockCount: 60 });
    const restartedService = await restartService(rig);
    await waitUntilSettled(rig, link.id);
    const { scannedTo } = await rig.readStatus();
    first.injectFault({ kind: "down" });
    const countRequests = () => second.getCounts().requests;
    const countBefore = countRequests();
    await waitUntil("the chain is polled many times", () => countRequests() > countBefore + 20);
    expect((await rig.readStatus()).scannedTo).toBeGreaterThanOrEqual(scannedTo ?? Infinity);
    expect(rig.publishedPayments(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    await restartedService.stop();
  });

  test("a payment below a fork is not reported as orphaned when a provider leaves the fork after a wide range (rule CHAIN-3)", async () => {
    const { first, rig } = await startCaughtUpWatch(2, { finality: { blocks: 3 } });
    await rig.service.stop();
    const { link } = await payNewLink(rig);
    const fork = first.injectFault({
      kind: "forked",
      fromBlock: (await chain.readHeadNumber()) + 2,
    });
    // The range is read from the fork, and only its last block is stored.
    await chain.mine(150);
    const restartedService = await restartService(rig);
    await waitUntilSettled(rig, link.id);
    await waitUntil(
      "the range is scanned",
      async () => (await rig.readStatus()).scannedTo === (await chain.readHeadNumber()),
    );
    fork.stop();
    await waitUntil("the reorg is logged", () =>
      rig.logLines.some((line) => line.includes("reorg orphaned scanned blocks")),
    );
    const nextPayment = await payNewLink(rig);
    await chain.mine(3);
    await waitUntilSettled(rig, nextPayment.link.id);
    expect(rig.publishedPayments(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    await restartedService.stop();
  });

  test.each(["first", "second"] as const)(
    "nothing settles while the %s provider is on its own fork, which is counted, and recovers by itself",
    async (dishonestProvider) => {
      const watch = await startCaughtUpWatch(2);
      const { first, rig } = watch;
      const fork = watch[dishonestProvider].injectFault({
        kind: "forked",
        fromBlock: (await chain.readHeadNumber()) + 1,
      });
      const { link } = await payNewLink(rig);
      await mineAndCatchUp(rig, first);
      expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
      expect(
        await matchesMetric(
          rig,
          /payment_links_chain_contradictions_total\{[^}]*"block"[^}]*\} [1-9]/,
        ),
      ).toBe(true);
      expect((await rig.readStatus()).reason).toMatch(/nothing settles/);
      fork.stop();
      await waitUntilSettled(rig, link.id);
      expect((await rig.readStatus()).state).toBe("watching");
    },
  );

  test.each(["first", "second"] as const)(
    "only the amount that both providers return settles if the %s inflates receipts (rule CHAIN-4)",
    async (dishonestProvider) => {
      const watch = await startCaughtUpWatch(2);
      const { first, rig } = watch;
      const playedFault = watch[dishonestProvider].injectFault({ kind: "inflated" });
      const { link } = await payNewLink(rig);
      await mineAndCatchUp(rig, first);
      expect(rig.publishedStatuses(link.id)).toEqual([
        `processing ${dishonestProvider === "first" ? "7000" : "7"}`,
      ]);
      expect(
        await matchesMetric(
          rig,
          /payment_links_chain_contradictions_total\{[^}]*"receipt"[^}]*\} [1-9]/,
        ),
      ).toBe(true);
      playedFault.stop();
      await waitUntilSettled(rig, link.id);
      expect(rig.publishedStatuses(link.id).filter((line) => line.startsWith("settled"))).toEqual([
        "settled 7",
      ]);
    },
  );

  test.each(["first", "second"] as const)(
    "payments that the %s provider invents do not settle, and all others do",
    async (dishonestProvider) => {
      const watch = await startCaughtUpWatch(2);
      const { rig, first } = watch;
      watch[dishonestProvider].injectFault({ kind: "invented" });
      const { hash, link } = await payNewLink(rig);
      await mineAndCatchUp(rig, first);
      await waitUntilSettled(rig, link.id);
      await mineAndCatchUp(rig, first);
      const settled = rig.publishedPayments(link.id).filter(({ status }) => status === "settled");
      expect(settled.map(({ sourceTransaction }) => sourceTransaction)).toEqual([hash]);
    },
  );

  test("an orphaned payment does not fail by a nonce that only one provider returned", async () => {
    const { first, rig } = await startCaughtUpWatch(2);
    first.injectFault({ kind: "wrong_nonces" });
    const { link, hash } = await payNewLink(rig, 2);
    await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length === 1);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await mineAndCatchUp(rig, first);
    await waitUntilSettled(rig, link.id);
  });

  test("a payment does not settle with a time that only one provider returned", async () => {
    const { first, rig } = await startCaughtUpWatch(2);
    const playedFault = first.injectFault({ kind: "old_blocks" });
    const { link } = await payNewLink(rig);
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    playedFault.stop();
    await waitUntilSettled(rig, link.id);
    const times = rig.publishedPayments(link.id).map(({ occurredAt }) => Date.parse(occurredAt));
    expect(times.at(-1)).toBeGreaterThan(times[0] ?? Infinity);
  });

  test.each(["first", "second"] as const)(
    "a block is final only when both providers say so, if the %s calls its newest block final",
    async (dishonestProvider) => {
      const watch = await startCaughtUpWatch(2);
      const { rig } = watch;
      watch[dishonestProvider].injectFault({ kind: "early_final" });
      const { link } = await payNewLink(rig);
      await waitUntil(
        "the payment is published",
        () => rig.publishedStatuses(link.id).length === 1,
      );
      const countBefore = watch[dishonestProvider].getCounts().requests;
      await waitUntil(
        "the provider gets more requests",
        () => watch[dishonestProvider].getCounts().requests > countBefore + 20,
      );
      expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
      await chain.mine(finalBlocks);
      await waitUntilSettled(rig, link.id);
    },
  );

  test("an orphaned payment does not fail because one provider says that it cannot be mined again (rule CHAIN-5)", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    const { link, hash } = await payNewLink(rig, 1);
    await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length === 1);
    const raw = await chain.readRawTransaction(hash);
    // From here on, the first provider hides the payment, although the chain contains it again and
    // its nonce is used.
    first.injectFault({ kind: "no_receipts" });
    const hiddenLogs = first.injectFault({ kind: "empty_logs" });
    const outage = second.injectFault({ kind: "down" });
    await chain.reorg(1);
    await rig.waitUntilScanned();
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine();
    await mineAndCatchUp(rig, first);
    const countRequests = () => first.getCounts().methods.get("eth_getTransactionCount") ?? 0;
    // Orphaned payments are resolved only when blocks are final, which one node alone cannot
    // achieve.
    first.injectFault({ kind: "early_final" });
    const countBefore = first.getCounts().requests;
    await waitUntil(
      "the first provider gets more requests",
      () => first.getCounts().requests > countBefore + 50,
    );
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    // The second provider's logs would reveal the payment before it is resolved.
    const hiddenLogsOfSecond = second.injectFault({ kind: "empty_logs" });
    outage.stop();
    await waitUntil("the orphaned payment is checked", () => countRequests() > 0);
    hiddenLogs.stop();
    hiddenLogsOfSecond.stop();
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 7"]);
    first.clearFaults();
    await waitUntilSettled(rig, link.id);
    expect(rig.publishedStatuses(link.id).join()).not.toContain("failed");
  });

  test("the chain is halted only once both providers show a reorg past a final block (rule CHAIN-7)", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    const { finalizedTo } = await rig.readStatus();
    const outage = second.injectFault({ kind: "down" });
    const fork = { kind: "forked", fromBlock: (finalizedTo ?? 0) - 2 } as const;
    first.injectFault(fork);
    const countRequests = () => first.getCounts().requests;
    const countBefore = countRequests();
    await waitUntil("the providers get more requests", () => countRequests() > countBefore + 50);
    expect((await rig.readStatus()).state).not.toBe("halted");
    outage.stop();
    second.injectFault(fork);
    await waitUntil("the chain is halted", async () => (await rig.readStatus()).state === "halted");
  });
});

describe("a payment that one of two providers alone shows in one new block after another", () => {
  /** Makes the first provider move the payment's log into new blocks. */
  const replayInNewBlock = async (first: ScriptedRpc, hash: Hex) =>
    first.injectFault({ kind: "hostile", corrupt: await misplaceLog(chain, hash) });
  /** Mines blocks, and waits after each one until it is scanned. */
  const mineOneByOne = async (rig: WatchRig, blockCount: number): Promise<void> => {
    for (let minedCount = 0; minedCount < blockCount; minedCount += 1) {
      await chain.mine();
      await rig.waitUntilScanned();
    }
  };
  const waitUntilAudited = (rig: WatchRig, paidIn: number) =>
    waitUntil(
      "the block of the payment is audited",
      async () => ((await rig.readStatus()).auditedTo ?? 0) >= paidIn,
    );

  test("settles once both providers show the same block", async () => {
    const { first, rig } = await startCaughtUpWatch(2);
    const { hash, link } = await payNewLink(rig);
    const paidIn = await chain.readHeadNumber();
    await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length === 1);
    const playedFault = await replayInNewBlock(first, hash);
    await mineOneByOne(rig, finalBlocks + 2);
    await waitUntilAudited(rig, paidIn);
    await mineOneByOne(rig, 2);
    playedFault.stop();
    await chain.mine(finalBlocks + 2);
    await waitUntilSettled(rig, link.id);
  });

  test("settles also if its real block was hidden, with the time of that block", async () => {
    const { first, rig, second } = await startCaughtUpWatch(2);
    const hiddenLogs = first.injectFault({ kind: "empty_logs" });
    const outage = second.injectFault({ kind: "down" });
    const { hash, link } = await payNewLink(rig);
    const { timestamp } = await chain.client.getBlock();
    const paidIn = await chain.readHeadNumber();
    await rig.waitUntilScanned();
    const playedFault = await replayInNewBlock(first, hash);
    hiddenLogs.stop();
    await mineOneByOne(rig, 1);
    await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length === 1);
    outage.stop();
    await mineOneByOne(rig, finalBlocks + 2);
    await waitUntilAudited(rig, paidIn);
    await mineOneByOne(rig, 2);
    playedFault.stop();
    await chain.mine(finalBlocks + 2);
    await waitUntilSettled(rig, link.id);
    const paidAt = Date.parse(rig.publishedPayments(link.id).at(-1)?.occurredAt ?? "") / 1000;
    expect(paidAt).toBe(Number(timestamp));
  });

  test("is not orphaned with such a block after it settled in a final one", async () => {
    const { first, rig } = await startCaughtUpWatch(2);
    const { hash, link } = await payNewLink(rig);
    await mineAndCatchUp(rig, first);
    await waitUntilSettled(rig, link.id);
    const playedFault = await replayInNewBlock(first, hash);
    // Without a transaction, the reorg would mine the same empty block again.
    await chain.transferToken({ to: owner, amount: 1n });
    await mineOneByOne(rig, 1);
    playedFault.stop();
    await chain.reorg(1);
    await mineOneByOne(rig, 2);
    expect(rig.publishedPayments(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });
});

describe("the audit", () => {
  /** Pays a link while the first provider hides the payment and the second one is down. */
  const payHidden = async () => {
    const watch = await startCaughtUpWatch(2);
    const { first, rig, second } = watch;
    first.injectFault({ kind: "empty_logs" });
    const outage = second.injectFault({ kind: "down" });
    const { link } = await payNewLink(rig);
    const paidAt = await chain.readHeadNumber();
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual([]);
    return { ...watch, outage, link, paidAt };
  };

  test("is never done by the provider that read the range: it waits for another (rule CHAIN-6)", async () => {
    const { outage, link, paidAt, rig, second } = await payHidden();
    outage.stop();
    // The provider confirms blocks again, but still returns no logs.
    const missingLogs = second.injectFault({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await waitUntil(
      "the block of the payment is final",
      async () => ((await rig.readStatus()).finalizedTo ?? 0) > paidAt,
    );
    await waitUntil("the provider gets log requests", () => missingLogs.getHitCount() > 3);
    expect((await rig.readStatus()).auditedTo).toBeLessThan(paidAt);
    await chain.mine();
    await rig.waitUntilScanned();
    expect(await matchesMetric(rig, /payment_links_chain_audit_lag_blocks\{[^}]*\} [1-9]/)).toBe(
      true,
    );
    missingLogs.stop();
    await waitUntilSettled(rig, link.id);
  });

  test("is not done by a provider to which the range is not final, because it may be on a fork (rule CHAIN-6)", async () => {
    const { first, rig, second } = await startCaughtUpWatch(3);
    const thirdRpc = rpcs[2];
    first.injectFault({ kind: "empty_logs" });
    second.injectFault({ kind: "empty_logs" });
    // The second provider has this block, but does not consider it final yet.
    second.injectFault({ kind: "stale_head", blockCount: finalBlocks - 2 });
    const outage = thirdRpc?.injectFault({ kind: "down" });
    const { link } = await payNewLink(rig);
    await mineAndCatchUp(rig, first);
    expect(rig.publishedStatuses(link.id)).toEqual([]);
    outage?.stop();
    await waitUntilSettled(rig, link.id);
  });

  test("knows who read a range after a restart with providers in another order", async () => {
    const { outage, first, link, rig, second } = await payHidden();
    await rig.service.stop();
    outage.stop();
    const rpcUrls = new Map([[chain.chainId, [second.url, first.url]]]);
    const restartedService = await restartService(rig, { ...rig.config, rpcUrls });
    await waitUntilSettled(rig, link.id);
    await restartedService.stop();
  });
});

describe("the scan", () => {
  test("takes receipts from the provider of the logs, so that no provider hides a payment from both scan and audit", async () => {
    const { first, rig } = await startCaughtUpWatch(2);
    first.injectFault({ kind: "hostile", corrupt: hideLogs((await chain.readHeadNumber()) + 1) });
    const { link } = await payNewLink(rig);
    await rig.waitUntilScanned();
    await chain.mine(finalBlocks + 2);
    // It settles only after two providers agree.
    await waitUntil("the payment is processing", () =>
      rig.publishedStatuses(link.id).includes("processing 7"),
    );
  });
});

const receiptMethods = ["eth_getTransactionReceipt", "eth_getBlockReceipts"];

/** Removes the logs that contain a reference from a reply. */
const removeLogsOf = (reference: string) => {
  const topic = keccak256(`0x${reference}`).slice(2);
  return (reply: unknown): string =>
    JSON.stringify(reply, (key, value: unknown) =>
      key === "logs" && Array.isArray(value)
        ? value.filter((log) => !JSON.stringify(log).includes(topic))
        : value,
    );
};

describe("with three providers, the first", () => {
  test("leaves one of two payments out of a receipt: it settles with the other", async () => {
    const { first, rig } = await startCaughtUpWatch(3);
    const links = [rig.sampleLink(), rig.sampleLink()] as const;
    for (const link of links) await rig.receiveLinks(link);
    const [, hiddenLink] = links;
    first.injectFault(
      { kind: "hostile", corrupt: removeLogsOf(hiddenLink.paymentReference) },
      { methods: receiptMethods },
    );
    await chain.payInOneTransaction(
      links.map((link) => ({ reference: link.paymentReference, to: owner, amount: 7_000_000n })),
    );
    await chain.mine();
    await mineAndCatchUp(rig, rpcs[1] ?? first);
    for (const link of links) await waitUntilSettled(rig, link.id);
  });

  test("leaves one of two payments out of a receipt, and a reorg orphans both: they settle together", async () => {
    const { first, rig, second } = await startCaughtUpWatch(3);
    const links = [rig.sampleLink(), rig.sampleLink()] as const;
    for (const link of links) await rig.receiveLinks(link);
    const [visibleLink, hiddenLink] = links;
    const corrupt = removeLogsOf(hiddenLink.paymentReference);
    first.injectFault({ kind: "hostile", corrupt }, { methods: receiptMethods });
    const hash = await chain.payInOneTransaction(
      links.map((link) => ({ reference: link.paymentReference, to: owner, amount: 7_000_000n })),
    );
    await chain.mine();
    await waitUntil(
      "one payment is published",
      () => rig.publishedStatuses(visibleLink.id).length === 1,
    );
    const raw = await chain.readRawTransaction(hash);
    // No provider returns the payment's log again. Only its receipt can reveal it, when the
    // orphaned payment is resolved.
    for (const rpc of rpcs) rpc.injectFault({ kind: "empty_logs" });
    await chain.reorg(1);
    await rig.waitUntilScanned();
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine();
    await mineAndCatchUp(rig, second);
    for (const link of links) await waitUntilSettled(rig, link.id);
  });

  test("shows a payment with another reference: the audit finds its link", async () => {
    const { first, rig, second } = await startCaughtUpWatch(3);
    const link = await rig.receiveNewLink();
    const topic = keccak256(`0x${link.paymentReference}`).slice(2);
    first.injectFault(
      {
        kind: "hostile",
        corrupt: (reply) => JSON.stringify(reply).replaceAll(topic, "7".repeat(topic.length)),
      },
      { methods: receiptMethods },
    );
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
    await chain.mine();
    await mineAndCatchUp(rig, second);
    await waitUntilSettled(rig, link.id);
  });

  test("invents payments: they become orphaned and do not delay other payments", async () => {
    const { first, rig, second } = await startCaughtUpWatch(3);
    first.injectFault({ kind: "invented" });
    const { link } = await payNewLink(rig);
    await mineAndCatchUp(rig, second);
    await waitUntilSettled(rig, link.id);
    const countDueWarnings = () =>
      rig.logLines.filter((line) => line.includes("payments are due")).length;
    await mineAndCatchUp(rig, second);
    const countBefore = countDueWarnings();
    await mineAndCatchUp(rig, second);
    expect(countDueWarnings()).toBe(countBefore);
    expect(rig.publishedStatuses(link.id).toSorted()).toEqual([
      "processing 7",
      "processing 7",
      "settled 7",
    ]);
  });

  const faults = [
    ["is on its own fork", { kind: "forked", fromBlock: 25 }],
    ["multiplies the amounts in receipts by 1,000", { kind: "inflated" }],
    ["invents payments", { kind: "invented" }],
    ["stays at an old head", { kind: "stale_head", blockCount: 40 }],
    ["returns no receipts", { kind: "no_receipts" }],
    ["returns no logs", { kind: "empty_logs" }],
    ["returns headers that do not form a chain", { kind: "broken_chain" }],
    ["reports older block times", { kind: "old_blocks" }],
    ["is unavailable", { kind: "down" }],
  ] as const;
  test.each(faults)("%s: what the other two agree on settles", async (_what, fault) => {
    const { first, rig } = await startCaughtUpWatch(3);
    const fromBlock = (await chain.readHeadNumber()) + 1;
    first.injectFault(fault.kind === "forked" ? { ...fault, fromBlock } : fault);
    const { hash, link } = await payNewLink(rig);
    const { blockHash } = await chain.client.getTransactionReceipt({ hash });
    const { timestamp } = await chain.client.getBlock({ blockHash });
    await mineAndCatchUp(rig, rpcs[1] ?? first);
    await waitUntilSettled(rig, link.id);
    const settled = rig.publishedPayments(link.id).filter(({ status }) => status === "settled");
    const settledFacts = settled.map(({ amount, occurredAt, sourceTransaction }) => ({
      amount,
      sourceTransaction,
      seconds: Date.parse(occurredAt) / 1000,
    }));
    expect(settledFacts).toEqual([
      { amount: "7", sourceTransaction: hash, seconds: Number(timestamp) },
    ]);
  });
});
