import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { keccak256Hex, topics } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { readProgress } from "../../store/watchers.ts";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";
import { withShortRests } from "../../testing/short-rests.ts";
import { showElsewhere } from "../../testing/show-elsewhere.ts";

const chain = useRig(() => openChain({ slotsInEpoch: 4 }));
beforeAll(async () => {
  await chain.mine(20);
});

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
const open = async (...given: Parameters<typeof openWatchRig>): Promise<WatchRig> => {
  rig = await openWatchRig(...given);
  await rig.service.start();
  await rig.caughtUp();
  return rig;
};
const openRpc = async (): Promise<ScriptedRpc> => {
  const rpc = await openScriptedRpc({ target: chain.url });
  rpcs.push(rpc);
  return rpc;
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/**
 * A link that is paid through a provider that hides it, once in each of so many blocks in a row, which
 * are final by then.
 */
const payUnseen = async (rig: WatchRig, blind: ScriptedRpc, blockCount = 1) => {
  const link = await rig.hearNew();
  const hiding = blind.play({ kind: "empty_logs" });
  let hash: Hex | undefined;
  for (let paid = 0; paid < blockCount; paid += 1) {
    hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
  }
  const paidAt = await chain.headNumber();
  await chain.mine(9);
  await waitUntil("it is final", async () => ((await rig.readStatus()).finalizedTo ?? 0) > paidAt);
  return { link, hash, paidAt, hiding };
};

const passBy = (rig: WatchRig, paidAt: number) =>
  waitUntil(
    "the second pass has gone by",
    async () => ((await readProgress(rig.pool, "1337")).auditedTo ?? 0) > paidAt,
  );

/** Pays for so many references that no link has; answers their hashes, once no audit finds them anew. */
const payForNothing = async (rig: WatchRig, count: number): Promise<string[]> => {
  const references = Array.from({ length: count }, () => randomBytes(16).toString("hex"));
  for (const reference of references) await chain.pay({ reference, to: owner, amount: 1n });
  await chain.mine();
  const paidAt = await chain.headNumber();
  await chain.mine(9);
  await passBy(rig, paidAt);
  return references.map(keccak256Hex);
};

/** Has a transfer been seen so many hours ago. */
const setSeen = (rig: WatchRig, referenceHash = "", hours: number) =>
  waitUntil(`one was seen ${hours} hours ago`, async () => {
    const { rowCount } = await rig.pool.query(nothing`
      UPDATE chain_transfers SET seen_at = now() - ${hours} * interval '1 hour'
      WHERE reference_hash = ${referenceHash}
    `);
    return rowCount === 1;
  });

/** Lets the service know that it has heard all that was said of links until so many hours ago. */
const markHeard = (rig: WatchRig, hoursAgo: number) => {
  const markedAt = new Date(Date.now() - hoursAgo * 60 * 60_000).toISOString();
  const headers = { ce_type: "outbox.mark", ce_time: markedAt };
  return rig.bus.publish([
    { topic: topics.paymentLinks, key: "outbox.mark", headers, value: "{}" },
  ]);
};

const isKept = (rig: WatchRig, referenceHash = "") =>
  rig.pool.exists(nothing`
    SELECT FROM chain_transfers WHERE reference_hash = ${referenceHash}
  `);

/** A payment that both providers have hidden until its audit was over, and the first one hides still. */
const missByBoth = async (clock?: Clock) => {
  const [first, second] = [await openRpc(), await openRpc()];
  const rig = await open(chain, { finality: "finalized" }, [first.url, second.url], clock);
  const blind = second.play({ kind: "empty_logs" });
  const paid = await payUnseen(rig, first);
  await passBy(rig, paid.paidAt);
  blind.stop();
  return { ...paid, first, rig, second };
};

const statuses = (rig: WatchRig, linkId: string) => rig.told(linkId).map(({ status }) => status);

const askRescan = (rig: WatchRig, body: unknown) =>
  fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("the second pass", () => {
  test("finds by another provider what the first one hid, repairs it and counts it (rule CHAIN-6)", async () => {
    const [blind, honest] = [await openRpc(), await openRpc()];
    const rig = await open(chain, { finality: "finalized" }, [blind.url, honest.url]);
    // The one that could correct it at once is away while the block is fresh.
    const away = honest.play({ kind: "down" }, { methods: ["eth_getLogs"] });
    const { link, paidAt } = await payUnseen(rig, blind);
    expect(statuses(rig, link.id)).toEqual([]);
    away.stop();
    await waitUntil("it is repaired", () => statuses(rig, link.id).length > 0);
    await waitUntil("it is settled", () => statuses(rig, link.id).includes("settled"));
    expect(statuses(rig, link.id)).toEqual(["processing", "settled"]);
    await waitUntil(
      "it is audited",
      async () => ((await rig.readStatus()).auditedTo ?? 0) > paidAt,
    );
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_audit_differences_total\{[^}]*kind="missing"[^}]*\} 1\n/,
    );
  });

  test("leaves no block out where one range ends and the next begins", async () => {
    const [blind, honest] = [await openRpc(), await openRpc()];
    const settings = { finality: "finalized", rangeBlocksMax: 2 } as const;
    const rig = await open(chain, settings, [blind.url, honest.url]);
    const away = honest.play({ kind: "down" }, { methods: ["eth_getLogs"] });
    // Wherever the ranges begin, one of two blocks in a row is the first of its range.
    const { link } = await payUnseen(rig, blind, 2);
    away.stop();
    const settled = () => statuses(rig, link.id).filter((status) => status === "settled");
    await waitUntil("both are repaired", () => settled().length === 2);
  });

  test("keeps a settled payment that it does not find, counts it and logs an error (rule CHAIN-6)", async () => {
    const [first, second] = [await openRpc(), await openRpc()];
    const rig = await open(chain, { finality: { blocks: 1 } }, [first.url, second.url]);
    const link = await rig.hearNew();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n });
    await chain.mine();
    const paidAt = await chain.headNumber();
    await chain.mine();
    await waitUntil("it is settled", () => statuses(rig, link.id).includes("settled"));
    // The second provider audits what the first one has read.
    second.play({ kind: "empty_logs" });
    await chain.mine(9);
    await passBy(rig, paidAt);
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_audit_differences_total\{[^}]*kind="surplus"[^}]*\} 1\n/,
    );
    expect(rig.logLines).toContainEqual(
      expect.stringMatching(/"level":"error".*knows nothing of a payment that was settled/),
    );
    expect(rig.told(link.id).at(-1)).toMatchObject({ status: "settled", isOrphaned: false });
  });

  test("has duties of which one that fails holds up no other", async () => {
    const rpc = await openRpc();
    const rig = await open(chain, { finality: "finalized" }, [rpc.url]);
    // A reorg takes a payment away, and nobody tells whether it can come back.
    const lost = await rig.hearNew();
    await chain.pay({ reference: lost.paymentReference, to: owner, amount: 1n, payer: 1 });
    await chain.mine();
    await waitUntil("it is seen", () => statuses(rig, lost.id).length === 1);
    rpc.play({ kind: "down" }, { methods: ["eth_getTransactionCount"] });
    await chain.reorg(1);
    const { link, hiding, paidAt } = await payUnseen(rig, rpc);
    hiding.stop();
    const answer = await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt });
    expect(answer.status).toBe(202);
    await waitUntil("it is found", () => statuses(rig, link.id).length > 0);
    await waitUntil("the failing duty is told", async () =>
      /payment_links_chain_duty_failing\{[^}]*duty="judge"[^}]*\} 1\n/.test(
        await rig.metrics.metrics(),
      ),
    );
    expect(await rig.metrics.metrics()).toMatch(
      /payment_links_chain_duty_failing\{[^}]*duty="rescan"[^}]*\} 0\n/,
    );
  });

  test("forgets a transfer without a link only if its link would have been heard of (rule CHAIN-8)", async () => {
    const rig = await open(chain, { finality: "finalized" });
    const [old, recent] = await payForNothing(rig, 2);
    await setSeen(rig, old, 48);
    await setSeen(rig, recent, 25);
    await markHeard(rig, 3);
    await waitUntil("the old one is forgotten", async () => !(await isKept(rig, old)));
    expect(await isKept(rig, recent)).toBe(true);
  });

  test("forgets again ten minutes later, also by a clock that was set back meanwhile", async () => {
    const { clock, shift } = createShiftedClock();
    const rig = await open(chain, { finality: "finalized" }, [chain.url], withShortRests(clock));
    const [first, second] = await payForNothing(rig, 2);
    await setSeen(rig, first, 72);
    await markHeard(rig, 3);
    await waitUntil("the first is forgotten", async () => !(await isKept(rig, first)));
    await setSeen(rig, second, 72);
    shift.nowMs = -60 * 60_000;
    shift.elapsedMs = 10 * 60_000;
    await waitUntil("the second is forgotten", async () => !(await isKept(rig, second)));
  });

  test("where there is one provider, calls nothing audited, and says so", async () => {
    const rig = await open(chain, { finality: "finalized" });
    expect(await rig.readStatus()).toMatchObject({ providerCount: 1, auditedTo: null });
    expect(await rig.metrics.metrics()).toMatch(/payment_links_chain_providers\{[^}]*\} 1\n/);
  });
});

describe("POST /internal/settlement/cancel-rescans", () => {
  test("gives up what is not done of a chain, and refuses one that is not watched", async () => {
    const rig = await open(chain, { finality: "finalized" });
    const head = await chain.headNumber();
    // Not final yet, so that it waits.
    await askRescan(rig, { chainId: "1337", fromBlock: head, toBlock: head });
    const cancel = async (chainId: string) => {
      const answer = await fetch(`${rig.internalUrl}/internal/settlement/cancel-rescans`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ chainId }),
      });
      return [answer.status, await answer.json()];
    };
    expect(await cancel("1337")).toEqual([202, { chainId: "1337", cancelledCount: 1 }]);
    expect(await cancel("1337")).toEqual([202, { chainId: "1337", cancelledCount: 0 }]);
    expect((await cancel("8453"))[0]).toBe(404);
  });
});

describe("POST /internal/settlement/rescan", () => {
  test("reads a range again and repairs what was missed", async () => {
    const blind = await openRpc();
    const rig = await open(chain, { finality: "finalized", rangeBlocksMax: 3 }, [blind.url]);
    const { link, hiding, paidAt } = await payUnseen(rig, blind);
    // Else it is the second pass that would find it.
    await passBy(rig, paidAt);
    hiding.stop();
    const answer = await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 },
    ]);
    await waitUntil("it is found", () => statuses(rig, link.id).length > 0);
    expect(statuses(rig, link.id)).toEqual(["settled"]);
  });

  test("reads it by two providers, so that none hides alone what was missed", async () => {
    const { link, paidAt, rig } = await missByBoth();
    await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil("it is found", () => statuses(rig, link.id).includes("settled"));
  });

  test("waits for a second provider that does not answer for a while", async () => {
    const { link, paidAt, rig, second } = await missByBoth();
    const away = second.play({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil("it is asked in vain", () => away.struckCount() > 0);
    away.stop();
    await waitUntil("it is found", () => statuses(rig, link.id).includes("settled"));
  });

  test("takes what two providers show in two places for one payment", async () => {
    const { first, hash, hiding, link, paidAt, rig } = await missByBoth();
    hiding.stop();
    const lie = first.play({ kind: "hostile", spoil: await showElsewhere(chain, hash) });
    await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil("it is found", () => statuses(rig, link.id).length > 0);
    lie.stop();
    await waitUntil("it settles", () => statuses(rig, link.id).includes("settled"));
  });

  test("goes by one provider where the other cannot tell of it", async () => {
    const { clock, shift } = createShiftedClock();
    const { first, hiding, link, paidAt, rig } = await missByBoth(withShortRests(clock));
    hiding.stop();
    first.play({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await askRescan(rig, { chainId: "1337", fromBlock: 0, toBlock: paidAt + 1 });
    await waitUntil(
      "the rescan waits for the other, or goes on without it",
      () =>
        rig.logLines.some((line) => line.includes('"loop":"rescan"')) ||
        statuses(rig, link.id).length > 0,
    );
    expect(statuses(rig, link.id)).toEqual([]);
    shift.elapsedMs = 30_000;
    await waitUntil("it is found", () => statuses(rig, link.id).length > 0);
  });

  test("refuses a chain that is not watched, and a range that is none or not scanned yet", async () => {
    const rig = await open(chain);
    const head = await chain.headNumber();
    const bodies = [
      { chainId: "8453", fromBlock: 1, toBlock: 2 },
      { chainId: "1337", fromBlock: 2, toBlock: 1 },
      { chainId: "1337", fromBlock: 1, toBlock: head + 1 },
      { chainId: "1337", fromBlock: -1, toBlock: 1 },
      { chainId: "1337", fromBlock: 0.5, toBlock: 1 },
      { chainId: "1337", fromBlock: 0 },
    ];
    const answers = await Promise.all(bodies.map((body) => askRescan(rig, body)));
    expect(answers.map(({ status }) => status)).toEqual([404, 422, 422, 422, 422, 422]);
  });
});
