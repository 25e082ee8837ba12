import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { keccak256Hex } from "@payment-links/chains";
import { topics } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { readProgress } from "../../store/watchers.ts";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { withShortDelays } from "../../testing/short-delays.ts";
import { misplaceLog } from "../../testing/misplace-log.ts";

const chain = useRig(() => startEvmChain({ slotsInEpoch: 4 }));
beforeAll(async () => {
  await chain.mine(20);
});

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
const startCaughtUpWatch = async (
  ...args: Parameters<typeof createWatchRig>
): Promise<WatchRig> => {
  rig = await createWatchRig(...args);
  await rig.service.start();
  await rig.waitUntilScanned();
  return rig;
};
const startRpc = async (): Promise<ScriptedRpc> => {
  const rpc = await startScriptedRpc({ target: chain.url });
  rpcs.push(rpc);
  return rpc;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/**
 * Pays a link once in each of several consecutive blocks, while a provider hides the payments. The
 * blocks are final when this returns.
 */
const payHidden = async (rig: WatchRig, blindRpc: ScriptedRpc, blockCount = 1) => {
  const link = await rig.receiveNewLink();
  const hiddenLogs = blindRpc.injectFault({ kind: "empty_logs" });
  let hash: Hex | undefined;
  for (let paidCount = 0; paidCount < blockCount; paidCount += 1) {
    hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
  }
  const paidAt = await chain.readHeadNumber();
  await chain.mine(9);
  await waitUntil(
    "the block of the payment is final",
    async () => ((await rig.readStatus()).finalizedTo ?? 0) > paidAt,
  );
  return { link, hash, paidAt, hiddenLogs };
};

const waitUntilAudited = (rig: WatchRig, paidAt: number) =>
  waitUntil(
    "the block of the payment is audited",
    async () => ((await readProgress(rig.pool, "1337")).auditedTo ?? 0) > paidAt,
  );

/**
 * Pays references that belong to no link. Returns their hashes once the audit has passed the
 * payments.
 */
const payUnknownReferences = async (rig: WatchRig, count: number): Promise<string[]> => {
  const references = Array.from({ length: count }, () => randomBytes(16).toString("hex"));
  for (const reference of references) await chain.pay({ reference, to: owner, amount: 1n });
  await chain.mine();
  const paidAt = await chain.readHeadNumber();
  await chain.mine(9);
  await waitUntilAudited(rig, paidAt);
  return references.map(keccak256Hex);
};

/** Makes a transfer look as if it was seen this many hours ago. */
const setSeenHoursAgo = (rig: WatchRig, referenceHash = "", hours: number) =>
  waitUntil(`a transfer was seen ${hours} hours ago`, async () => {
    const { rowCount } = await rig.pool.query(sqlVoid`
      UPDATE chain_transfers SET seen_at = now() - ${hours} * interval '1 hour'
      WHERE reference_hash = ${referenceHash}
    `);
    return rowCount === 1;
  });

/**
 * Publishes a watermark, which says that all link events up to this many hours ago have been
 * published.
 */
const publishWatermark = (rig: WatchRig, hoursAgo: number) => {
  const watermarkAt = new Date(Date.now() - hoursAgo * 60 * 60_000).toISOString();
  const headers = { ce_type: "outbox.mark", ce_time: watermarkAt };
  return rig.bus.publish([
    { topic: topics.paymentLinks, key: "outbox.mark", headers, value: "{}" },
  ]);
};

const isStored = (rig: WatchRig, referenceHash = "") =>
  rig.pool.exists(sqlVoid`
    SELECT FROM chain_transfers WHERE reference_hash = ${referenceHash}
  `);

/**
 * Creates a payment that both providers hide until the audit has passed it. Afterwards the first
 * provider still hides it.
 */
const payHiddenFromBoth = async (clock?: Clock) => {
  const [first, second] = [await startRpc(), await startRpc()];
  const rig = await startCaughtUpWatch(
    chain,
    { finality: "finalized" },
    [first.url, second.url],
    clock,
  );
  const hiddenBySecond = second.injectFault({ kind: "empty_logs" });
  const hiddenPayment = await payHidden(rig, first);
  await waitUntilAudited(rig, hiddenPayment.paidAt);
  hiddenBySecond.stop();
  return { ...hiddenPayment, first, rig, second };
};

const publishedStatuses = (rig: WatchRig, linkId: string) =>
  rig.publishedPayments(linkId).map(({ status }) => status);

const requestRescan = (rig: WatchRig, body: unknown) =>
  fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("background jobs", () => {
  test("find with another provider what the first one hid, repair it and count it (rule CHAIN-6)", async () => {
    const [blindRpc, honestRpc] = [await startRpc(), await startRpc()];
    const rig = await startCaughtUpWatch(chain, { finality: "finalized" }, [
      blindRpc.url,
      honestRpc.url,
    ]);
    // The honest provider would reveal the payment immediately, so it is down while the block is
    // new.
    const outage = honestRpc.injectFault({ kind: "down" }, { methods: ["eth_getLogs"] });
    const { link, paidAt } = await payHidden(rig, blindRpc);
    expect(publishedStatuses(rig, link.id)).toEqual([]);
    outage.stop();
    await waitUntil(
      "the missed payment is published",
      () => publishedStatuses(rig, link.id).length > 0,
    );
    await waitUntil("the payment is settled", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
    expect(publishedStatuses(rig, link.id)).toEqual(["processing", "settled"]);
    await waitUntil(
      "the block of the payment is audited",
      async () => ((await rig.readStatus()).auditedTo ?? 0) > paidAt,
    );
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_audit_differences_total\{[^}]*kind="missing"[^}]*\} 1\n/,
    );
  });

  test("audit every block where one range ends and the next begins", async () => {
    const [blindRpc, honestRpc] = [await startRpc(), await startRpc()];
    const settings = { finality: "finalized", rangeBlocksMax: 2 } as const;
    const rig = await startCaughtUpWatch(chain, settings, [blindRpc.url, honestRpc.url]);
    const outage = honestRpc.injectFault({ kind: "down" }, { methods: ["eth_getLogs"] });
    // One of two consecutive blocks is always the first of its range.
    const { link } = await payHidden(rig, blindRpc, 2);
    outage.stop();
    const listSettled = () =>
      publishedStatuses(rig, link.id).filter((status) => status === "settled");
    await waitUntil("both missed payments are settled", () => listSettled().length === 2);
  });

  test("keep a settled payment that the audit does not find, count it and log an error (rule CHAIN-6)", async () => {
    const [first, second] = [await startRpc(), await startRpc()];
    const rig = await startCaughtUpWatch(chain, { finality: { blocks: 1 } }, [
      first.url,
      second.url,
    ]);
    const link = await rig.receiveNewLink();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
    const paidAt = await chain.readHeadNumber();
    await chain.mine();
    await waitUntil("the payment is settled", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
    // The second provider audits the blocks that the scan read from the first one.
    second.injectFault({ kind: "empty_logs" });
    await chain.mine(9);
    await waitUntilAudited(rig, paidAt);
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_audit_differences_total\{[^}]*kind="surplus"[^}]*\} 1\n/,
    );
    expect(rig.logLines).toContainEqual(
      expect.stringMatching(/"level":"error".*audit did not find a settled payment/),
    );
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      status: "settled",
      isOrphaned: false,
    });
  });

  test("run independently: a failing job does not delay the others", async () => {
    const rpc = await startRpc();
    const rig = await startCaughtUpWatch(chain, { finality: "finalized" }, [rpc.url]);
    // A reorg orphans a payment, and no provider reports whether it can be mined again.
    const orphanedLink = await rig.receiveNewLink();
    await chain.pay({ reference: orphanedLink.paymentReference, to: owner, amount: 1n, payer: 1 });
    await chain.mine();
    await waitUntil(
      "the payment is published",
      () => publishedStatuses(rig, orphanedLink.id).length === 1,
    );
    rpc.injectFault({ kind: "down" }, { methods: ["eth_getTransactionCount"] });
    await chain.reorg(1);
    const { link, hiddenLogs, paidAt } = await payHidden(rig, rpc);
    hiddenLogs.stop();
    const response = await requestRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt });
    expect(response.status).toBe(202);
    await waitUntil(
      "the missed payment is published",
      () => publishedStatuses(rig, link.id).length > 0,
    );
    await waitUntil("the failing job is reported", async () =>
      /payment_links_chain_duty_failing\{[^}]*duty="judge"[^}]*\} 1\n/.test(
        await rig.metrics.metrics(),
      ),
    );
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_duty_failing\{[^}]*duty="rescan"[^}]*\} 0\n/,
    );
  });

  test("delete a transfer without a link only once its link would have been received (rule CHAIN-8)", async () => {
    const rig = await startCaughtUpWatch(chain, { finality: "finalized" });
    const [oldHash, recentHash] = await payUnknownReferences(rig, 2);
    await setSeenHoursAgo(rig, oldHash, 48);
    await setSeenHoursAgo(rig, recentHash, 25);
    await publishWatermark(rig, 3);
    await waitUntil("the old transfer is deleted", async () => !(await isStored(rig, oldHash)));
    expect(await isStored(rig, recentHash)).toBe(true);
  });

  test("delete again ten minutes later, even if the clock was set back in the meantime", async () => {
    const { clock, shift } = createShiftedClock();
    const rig = await startCaughtUpWatch(
      chain,
      { finality: "finalized" },
      [chain.url],
      withShortDelays(clock),
    );
    const [first, second] = await payUnknownReferences(rig, 2);
    await setSeenHoursAgo(rig, first, 72);
    await publishWatermark(rig, 3);
    await waitUntil("the first transfer is deleted", async () => !(await isStored(rig, first)));
    await setSeenHoursAgo(rig, second, 72);
    shift.nowMs = -60 * 60_000;
    shift.elapsedMs = 10 * 60_000;
    await waitUntil("the second transfer is deleted", async () => !(await isStored(rig, second)));
  });

  test("report nothing as audited if there is only one provider", async () => {
    const rig = await startCaughtUpWatch(chain, { finality: "finalized" });
    expect(await rig.readStatus()).toMatchObject({ providerCount: 1, auditedTo: null });
    expect(await rig.metrics.metrics()).toMatch(/payment_links_chain_providers\{[^}]*\} 1\n/);
  });
});

describe("POST /internal/settlement/cancel-rescans", () => {
  test("cancels the pending rescans of a chain, and rejects a chain that is not watched", async () => {
    const rig = await startCaughtUpWatch(chain, { finality: "finalized" });
    const head = await chain.readHeadNumber();
    // The block is not final yet, so the rescan waits.
    await requestRescan(rig, { chainId: "1337", fromBlock: head, toBlock: head });
    const requestCancel = async (chainId: string) => {
      const response = await fetch(`${rig.internalUrl}/internal/settlement/cancel-rescans`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ chainId }),
      });
      return [response.status, await response.json()];
    };
    expect(await requestCancel("1337")).toEqual([202, { chainId: "1337", cancelledCount: 1 }]);
    expect(await requestCancel("1337")).toEqual([202, { chainId: "1337", cancelledCount: 0 }]);
    expect((await requestCancel("8453"))[0]).toBe(404);
  });
});

describe("POST /internal/settlement/rescan", () => {
  test("reads a range again and repairs what was missed", async () => {
    const blindRpc = await startRpc();
    const rig = await startCaughtUpWatch(chain, { finality: "finalized", rangeBlocksMax: 3 }, [
      blindRpc.url,
    ]);
    const { link, hiddenLogs, paidAt } = await payHidden(rig, blindRpc);
    // This waits for the audit, which would find the payment otherwise.
    await waitUntilAudited(rig, paidAt);
    hiddenLogs.stop();
    const response = await requestRescan(rig, {
      chainId: "1337",
      fromBlock: 0,
      toBlock: paidAt + 1,
    });
    expect([response.status, await response.json()]).toEqual([
      202,
      { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 },
    ]);
    await waitUntil(
      "the missed payment is published",
      () => publishedStatuses(rig, link.id).length > 0,
    );
    expect(publishedStatuses(rig, link.id)).toEqual(["settled"]);
  });

  test("reads the range from two providers, so that no single one hides what was missed", async () => {
    const { link, paidAt, rig } = await payHiddenFromBoth();
    await requestRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil("the missed payment is settled", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
  });

  test("waits for a second provider that does not answer for a while", async () => {
    const { link, paidAt, rig, second } = await payHiddenFromBoth();
    const outage = second.injectFault({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await requestRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil("the unavailable provider is requested", () => outage.getHitCount() > 0);
    outage.stop();
    await waitUntil("the missed payment is settled", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
  });

  test("stores one payment if two providers show it in two blocks", async () => {
    const { first, hash, hiddenLogs, link, paidAt, rig } = await payHiddenFromBoth();
    hiddenLogs.stop();
    const playedFault = first.injectFault({
      kind: "hostile",
      corrupt: await misplaceLog(chain, hash),
    });
    await requestRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil(
      "the missed payment is published",
      () => publishedStatuses(rig, link.id).length > 0,
    );
    playedFault.stop();
    await waitUntil("the payment settles", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
  });

  test("uses one provider if the other cannot read the range", async () => {
    const { clock, shift } = createShiftedClock();
    const { first, hiddenLogs, link, paidAt, rig } = await payHiddenFromBoth(
      withShortDelays(clock),
    );
    hiddenLogs.stop();
    first.injectFault({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await requestRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil(
      "the rescan waits for the other provider, or continues without it",
      () =>
        rig.logLines.some((line) => line.includes('"loop":"rescan"')) ||
        publishedStatuses(rig, link.id).length > 0,
    );
    expect(publishedStatuses(rig, link.id)).toEqual([]);
    shift.elapsedMs = 30_000;
    await waitUntil(
      "the missed payment is published",
      () => publishedStatuses(rig, link.id).length > 0,
    );
  });

  test("rejects a chain that is not watched, and a range that is invalid or not scanned yet", async () => {
    const rig = await startCaughtUpWatch(chain);
    const head = await chain.readHeadNumber();
    const bodies = [
      { chainId: "8453", fromBlock: 1, toBlock: 2 },
      { chainId: "1337", fromBlock: 2, toBlock: 1 },
      { chainId: "1337", fromBlock: 1, toBlock: head + 1 },
      { chainId: "1337", fromBlock: -1, toBlock: 1 },
      { chainId: "1337", fromBlock: 0.5, toBlock: 1 },
      { chainId: "1337", fromBlock: 0 },
    ];
    const responses = await Promise.all(bodies.map((body) => requestRescan(rig, body)));
    expect(responses.map(({ status }) => status)).toEqual([404, 422, 422, 422, 422, 422]);
  });
});
