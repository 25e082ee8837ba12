import { type Hex, keccak256 } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../../service.ts";
import { hideLogs } from "../../testing/hide-logs.ts";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";
import { showElsewhere } from "../../testing/show-elsewhere.ts";

/** `finalized` is eight blocks behind the head, `safe` four. */
const finalBlocks = 8;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** A watch that has caught up, over so many providers with one good node behind them. */
const open = async (
  providerCount: number,
  override: Parameters<typeof openWatchRig>[1] = { finality: "finalized" },
) => {
  for (let opened = 0; opened < providerCount; opened += 1) {
    rpcs.push(await openScriptedRpc({ target: chain.url }));
  }
  rig = await openWatchRig(
    chain,
    override,
    rpcs.map(({ url }) => url),
  );
  await rig.service.start();
  await rig.caughtUp();
  const [first, second = chain.url] = rpcs;
  if (first === undefined || typeof second === "string") throw new Error("there are two");
  return { rig, first, second };
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** A link that is paid 7 units of it; the payment's block is the newest. */
const payLink = async (rig: WatchRig, payer: 0 | 1 | 2 = 0) => {
  const link = await rig.hearNew();
  const hash = await chain.pay({
    reference: link.paymentReference,
    to: owner,
    amount: 7_000_000n,
    payer,
  });
  await chain.mine();
  return { link, hash };
};

/** The service once more on the same database, after a restart. */
const startAgain = async (rig: WatchRig, config = rig.config) => {
  const again = createSettlementListener({ ...rig.ground, metrics: openMetrics("again") }, config);
  await again.start();
  return again;
};

const settles = (rig: WatchRig, linkId: string, amount = "7") =>
  waitUntil("it is settled", () => rig.statuses(linkId).includes(`settled ${amount}`));

/** Blocks go by, and the watch takes several more steps. */
const letBlocksPass = async (rig: WatchRig, rpc: ScriptedRpc): Promise<void> => {
  await chain.mine(finalBlocks + 2);
  await rig.caughtUp();
  const asked = () => rpc.counts().methods.get("eth_blockNumber") ?? 0;
  const before = asked();
  await waitUntil("some steps are taken", () => asked() > before + 5);
};

const metric = async (rig: WatchRig, pattern: RegExp): Promise<boolean> =>
  pattern.test(await rig.metrics.metrics());

describe("of two providers", () => {
  test("one that is away: payments are seen and none settles, which is told; back, all settle (rule CHAIN-4)", async () => {
    const { first, rig, second } = await open(2);
    const outage = second.play({ kind: "down" });
    const { link } = await payLink(rig);
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    const { finalizedTo, reason, scannedTo } = await rig.readStatus();
    expect(reason).toBe("no second provider agrees with the first: nothing settles");
    expect(scannedTo).toBe(await chain.headNumber());
    expect(finalizedTo).toBeLessThan((scannedTo ?? 0) - finalBlocks);
    expect(await metric(rig, /payment_links_chain_providers\{[^}]*\} 2\n/)).toBe(true);
    expect(await metric(rig, /payment_links_chain_agreeing_providers\{[^}]*\} 1\n/)).toBe(true);
    outage.stop();
    await settles(rig, link.id);
    await waitUntil("they agree", async () => (await rig.readStatus()).reason === null);
    expect(await metric(rig, /payment_links_chain_agreeing_providers\{[^}]*\} 2\n/)).toBe(true);
  });

  test("the first one away: the second shows what is paid, and it settles once the first is back", async () => {
    const { first, rig, second } = await open(2);
    const outage = first.play({ kind: "down" });
    const { link } = await payLink(rig);
    await letBlocksPass(rig, second);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    outage.stop();
    await settles(rig, link.id);
  });

  test("many final blocks that one shows while the other is away are seen, and settle later", async () => {
    const { first, rig, second } = await open(2);
    await rig.service.stop();
    const { link } = await payLink(rig);
    // More than are read one by one.
    await chain.mine(150);
    const outage = second.play({ kind: "down" });
    const again = await startAgain(rig);
    await waitUntil("it is seen", () => rig.statuses(link.id).length > 0);
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    outage.stop();
    await settles(rig, link.id);
    await again.stop();
  });

  test("one behind blocks that were read in a wide range, the other away: nothing is taken back", async () => {
    const { first, rig, second } = await open(2);
    await rig.service.stop();
    const { link } = await payLink(rig);
    // More than are read one by one: of these only the last is stored, and the second is below it.
    await chain.mine(150);
    second.play({ kind: "stale_head", blockCount: 60 });
    const again = await startAgain(rig);
    await settles(rig, link.id);
    const { scannedTo } = await rig.readStatus();
    first.play({ kind: "down" });
    const asked = () => second.counts().requests;
    const before = asked();
    await waitUntil("several steps are taken", () => asked() > before + 20);
    expect((await rig.readStatus()).scannedTo).toBeGreaterThanOrEqual(scannedTo ?? Infinity);
    expect(rig.told(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    await again.stop();
  });

  test("one leaves its fork after a wide range: a payment below the fork is not reported as orphaned (rule CHAIN-3)", async () => {
    const { first, rig } = await open(2, { finality: { blocks: 3 } });
    await rig.service.stop();
    const { link } = await payLink(rig);
    const fork = first.play({ kind: "forked", fromBlock: (await chain.headNumber()) + 2 });
    // The range is read from the fork, and only its last block is stored.
    await chain.mine(150);
    const again = await startAgain(rig);
    await settles(rig, link.id);
    await waitUntil(
      "the range is scanned",
      async () => (await rig.readStatus()).scannedTo === (await chain.headNumber()),
    );
    fork.stop();
    await waitUntil("the fork is left", () =>
      rig.logLines.some((line) => line.includes("a reorg took scanned blocks away")),
    );
    const next = await payLink(rig);
    await chain.mine(3);
    await settles(rig, next.link.id);
    expect(rig.told(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    await again.stop();
  });

  test.each(["first", "second"] as const)(
    "the %s on a fork of its own: nothing settles, it is counted, and heals by itself",
    async (liar) => {
      const opened = await open(2);
      const { first, rig } = opened;
      const fork = opened[liar].play({
        kind: "forked",
        fromBlock: (await chain.headNumber()) + 1,
      });
      const { link } = await payLink(rig);
      await letBlocksPass(rig, first);
      expect(rig.statuses(link.id)).toEqual(["processing 7"]);
      expect(
        await metric(rig, /payment_links_chain_contradictions_total\{[^}]*"block"[^}]*\} [1-9]/),
      ).toBe(true);
      expect((await rig.readStatus()).reason).toMatch(/nothing settles/);
      fork.stop();
      await settles(rig, link.id);
      expect((await rig.readStatus()).state).toBe("watching");
    },
  );

  test.each(["first", "second"] as const)(
    "the %s with receipts of a thousandfold: nothing settles but what both say (rule CHAIN-4)",
    async (liar) => {
      const opened = await open(2);
      const { first, rig } = opened;
      const lie = opened[liar].play({ kind: "inflated" });
      const { link } = await payLink(rig);
      await letBlocksPass(rig, first);
      expect(rig.statuses(link.id)).toEqual([`processing ${liar === "first" ? "7000" : "7"}`]);
      expect(
        await metric(rig, /payment_links_chain_contradictions_total\{[^}]*"receipt"[^}]*\} [1-9]/),
      ).toBe(true);
      lie.stop();
      await settles(rig, link.id);
      expect(rig.statuses(link.id).filter((line) => line.startsWith("settled"))).toEqual([
        "settled 7",
      ]);
    },
  );

  test.each(["first", "second"] as const)(
    "the %s invents payments: none of them settles, and the others do",
    async (liar) => {
      const opened = await open(2);
      const { rig, first } = opened;
      opened[liar].play({ kind: "invented" });
      const { hash, link } = await payLink(rig);
      await letBlocksPass(rig, first);
      await settles(rig, link.id);
      await letBlocksPass(rig, first);
      const settled = rig.told(link.id).filter(({ status }) => status === "settled");
      expect(settled.map(({ sourceTransaction }) => sourceTransaction)).toEqual([hash]);
    },
  );

  test("one alone says with which nonce a lost payment was sent: it has not failed by that", async () => {
    const { first, rig } = await open(2);
    first.play({ kind: "wrong_nonces" });
    const { link, hash } = await payLink(rig, 2);
    await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
    const raw = await chain.rawOf(hash);
    await chain.reorg(1);
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    await chain.ask("eth_sendRawTransaction", [raw]);
    await letBlocksPass(rig, first);
    await settles(rig, link.id);
  });

  test("one alone says when it was paid: that settles nothing either", async () => {
    const { first, rig } = await open(2);
    const lie = first.play({ kind: "old_blocks" });
    const { link } = await payLink(rig);
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    lie.stop();
    await settles(rig, link.id);
    const times = rig.told(link.id).map(({ occurredAt }) => Date.parse(occurredAt));
    expect(times.at(-1)).toBeGreaterThan(times[0] ?? Infinity);
  });

  test.each(["first", "second"] as const)(
    "the %s calls its newest block final: the other one's word is waited for",
    async (liar) => {
      const opened = await open(2);
      const { rig } = opened;
      opened[liar].play({ kind: "early_final" });
      const { link } = await payLink(rig);
      await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
      const before = opened[liar].counts().requests;
      await waitUntil("it is looked at", () => opened[liar].counts().requests > before + 20);
      expect(rig.statuses(link.id)).toEqual(["processing 7"]);
      await chain.mine(finalBlocks);
      await settles(rig, link.id);
    },
  );

  test("one alone says that a lost payment cannot come back: it has not failed (rule CHAIN-5)", async () => {
    const { first, rig, second } = await open(2);
    const { link, hash } = await payLink(rig, 1);
    await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
    const raw = await chain.rawOf(hash);
    // From here on it is hidden, although it stands in the chain again, and its nonce is used.
    first.play({ kind: "no_receipts" });
    const hiding = first.play({ kind: "empty_logs" });
    const outage = second.play({ kind: "down" });
    await chain.reorg(1);
    await rig.caughtUp();
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine();
    await letBlocksPass(rig, first);
    const asked = () => first.counts().methods.get("eth_getTransactionCount") ?? 0;
    // While nothing is final nothing is judged; a node that calls it final is not believed alone.
    first.play({ kind: "early_final" });
    const before = first.counts().requests;
    await waitUntil("it goes on", () => first.counts().requests > before + 50);
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    // Whoever reads the second one's logs would find it again before it is judged.
    const hidingBySecond = second.play({ kind: "empty_logs" });
    outage.stop();
    await waitUntil("it is judged", () => asked() > 0);
    hiding.stop();
    hidingBySecond.stop();
    expect(rig.statuses(link.id)).toEqual(["processing 7"]);
    first.heal();
    await settles(rig, link.id);
    expect(rig.statuses(link.id).join()).not.toContain("failed");
  });

  test("one alone shows a reorg past a final block: the chain is halted only once both do (rule CHAIN-7)", async () => {
    const { first, rig, second } = await open(2);
    const { finalizedTo } = await rig.readStatus();
    const outage = second.play({ kind: "down" });
    const fork = { kind: "forked", fromBlock: (finalizedTo ?? 0) - 2 } as const;
    first.play(fork);
    const asked = () => first.counts().requests;
    const before = asked();
    await waitUntil("it is looked at", () => asked() > before + 50);
    expect((await rig.readStatus()).state).not.toBe("halted");
    outage.stop();
    second.play(fork);
    await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
  });
});

describe("a payment that one of two providers alone shows in one new block after the other", () => {
  /** The first one shows it there from now on. */
  const showAgain = async (first: ScriptedRpc, hash: Hex) =>
    first.play({ kind: "hostile", spoil: await showElsewhere(chain, hash) });
  /** Blocks go by, each of them read by itself. */
  const readOneByOne = async (rig: WatchRig, blockCount: number): Promise<void> => {
    for (let mined = 0; mined < blockCount; mined += 1) {
      await chain.mine();
      await rig.caughtUp();
    }
  };
  const auditCame = (rig: WatchRig, paidIn: number) =>
    waitUntil(
      "its block is audited",
      async () => ((await rig.readStatus()).auditedTo ?? 0) >= paidIn,
    );

  test("settles once both say where it stands", async () => {
    const { first, rig } = await open(2);
    const { hash, link } = await payLink(rig);
    const paidIn = await chain.headNumber();
    await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
    const lie = await showAgain(first, hash);
    await readOneByOne(rig, finalBlocks + 2);
    await auditCame(rig, paidIn);
    await readOneByOne(rig, 2);
    lie.stop();
    await chain.mine(finalBlocks + 2);
    await settles(rig, link.id);
  });

  test("settles as well where it hid the payment in its own block, at that block's time", async () => {
    const { first, rig, second } = await open(2);
    const hiding = first.play({ kind: "empty_logs" });
    const outage = second.play({ kind: "down" });
    const { hash, link } = await payLink(rig);
    const { timestamp } = await chain.client.getBlock();
    const paidIn = await chain.headNumber();
    await rig.caughtUp();
    const lie = await showAgain(first, hash);
    hiding.stop();
    await readOneByOne(rig, 1);
    await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
    outage.stop();
    await readOneByOne(rig, finalBlocks + 2);
    await auditCame(rig, paidIn);
    await readOneByOne(rig, 2);
    lie.stop();
    await chain.mine(finalBlocks + 2);
    await settles(rig, link.id);
    const paidAt = Date.parse(rig.told(link.id).at(-1)?.occurredAt ?? "") / 1000;
    expect(paidAt).toBe(Number(timestamp));
  });

  test("is not taken away with such a block where it had settled in a final one", async () => {
    const { first, rig } = await open(2);
    const { hash, link } = await payLink(rig);
    await letBlocksPass(rig, first);
    await settles(rig, link.id);
    const lie = await showAgain(first, hash);
    // An empty block would be mined again as it was.
    await chain.give({ to: owner, amount: 1n });
    await readOneByOne(rig, 1);
    lie.stop();
    await chain.reorg(1);
    await readOneByOne(rig, 2);
    expect(rig.told(link.id).map(({ isOrphaned }) => isOrphaned)).not.toContain(true);
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });
});

describe("the audit", () => {
  /** Paid while the first one hides it and the second is away. */
  const payUnseen = async () => {
    const opened = await open(2);
    const { first, rig, second } = opened;
    first.play({ kind: "empty_logs" });
    const away = second.play({ kind: "down" });
    const { link } = await payLink(rig);
    const paidAt = await chain.headNumber();
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual([]);
    return { ...opened, away, link, paidAt };
  };

  test("is never made by the provider that read the range: its mark waits for another (rule CHAIN-6)", async () => {
    const { away, link, paidAt, rig, second } = await payUnseen();
    away.stop();
    // It vouches for blocks again, and still gives no logs.
    const mute = second.play({ kind: "server_error" }, { methods: ["eth_getLogs"] });
    await waitUntil(
      "its blocks are final",
      async () => ((await rig.readStatus()).finalizedTo ?? 0) > paidAt,
    );
    await waitUntil("it is asked", () => mute.struckCount() > 3);
    expect((await rig.readStatus()).auditedTo).toBeLessThan(paidAt);
    await chain.mine();
    await rig.caughtUp();
    expect(await metric(rig, /payment_links_chain_audit_lag_blocks\{[^}]*\} [1-9]/)).toBe(true);
    mute.stop();
    await settles(rig, link.id);
  });

  test("is made by nobody to whom the range is not final yet: it may stand on a fork of it (rule CHAIN-6)", async () => {
    const { first, rig, second } = await open(3);
    const third = rpcs[2];
    first.play({ kind: "empty_logs" });
    second.play({ kind: "empty_logs" });
    // It is past the payment's block, and less than what makes it final.
    second.play({ kind: "stale_head", blockCount: finalBlocks - 2 });
    const away = third?.play({ kind: "down" });
    const { link } = await payLink(rig);
    await letBlocksPass(rig, first);
    expect(rig.statuses(link.id)).toEqual([]);
    away?.stop();
    await settles(rig, link.id);
  });

  test("knows who read a range after a restart, and in another order of providers", async () => {
    const { away, first, link, rig, second } = await payUnseen();
    await rig.service.stop();
    away.stop();
    const rpcUrls = new Map([[chain.chainId, [second.url, first.url]]]);
    const again = await startAgain(rig, { ...rig.config, rpcUrls });
    await settles(rig, link.id);
    await again.stop();
  });
});

describe("the first look", () => {
  test("takes receipts from whoever gave the logs: one provider alone hides a payment from it and the audit", async () => {
    const { first, rig } = await open(2);
    first.play({ kind: "hostile", spoil: hideLogs((await chain.headNumber()) + 1) });
    const { link } = await payLink(rig);
    await rig.caughtUp();
    await chain.mine(finalBlocks + 2);
    // Two must say the same before it settles.
    await waitUntil("it is shown", () => rig.statuses(link.id).includes("processing 7"));
  });
});

const receiptMethods = ["eth_getTransactionReceipt", "eth_getBlockReceipts"];

/** A reply without the logs that name a reference. */
const leaveOut = (reference: string) => {
  const topic = keccak256(`0x${reference}`).slice(2);
  return (reply: unknown): string =>
    JSON.stringify(reply, (key, value: unknown) =>
      key === "logs" && Array.isArray(value)
        ? value.filter((log) => !JSON.stringify(log).includes(topic))
        : value,
    );
};

describe("of three providers, the first", () => {
  test("leaves one of two payments out of a receipt: it settles with the other", async () => {
    const { first, rig } = await open(3);
    const links = [rig.sampleLink(), rig.sampleLink()] as const;
    for (const link of links) await rig.hear(link);
    const [, hidden] = links;
    first.play(
      { kind: "hostile", spoil: leaveOut(hidden.paymentReference) },
      { methods: receiptMethods },
    );
    await chain.payTogether(
      links.map((link) => ({ reference: link.paymentReference, to: owner, amount: 7_000_000n })),
    );
    await chain.mine();
    await letBlocksPass(rig, rpcs[1] ?? first);
    for (const link of links) await settles(rig, link.id);
  });

  test("leaves one of two out of a receipt, and a reorg takes both away: they settle together", async () => {
    const { first, rig, second } = await open(3);
    const links = [rig.sampleLink(), rig.sampleLink()] as const;
    for (const link of links) await rig.hear(link);
    const [shown, hidden] = links;
    const spoil = leaveOut(hidden.paymentReference);
    first.play({ kind: "hostile", spoil }, { methods: receiptMethods });
    const hash = await chain.payTogether(
      links.map((link) => ({ reference: link.paymentReference, to: owner, amount: 7_000_000n })),
    );
    await chain.mine();
    await waitUntil("one is seen", () => rig.statuses(shown.id).length === 1);
    const raw = await chain.rawOf(hash);
    // Nobody shows it again: it is found as what is lost is judged, by receipts alone.
    for (const rpc of rpcs) rpc.play({ kind: "empty_logs" });
    await chain.reorg(1);
    await rig.caughtUp();
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine();
    await letBlocksPass(rig, second);
    for (const link of links) await settles(rig, link.id);
  });

  test("shows a payment under another reference: the second look finds whose it is", async () => {
    const { first, rig, second } = await open(3);
    const link = await rig.hearNew();
    const topic = keccak256(`0x${link.paymentReference}`).slice(2);
    first.play(
      {
        kind: "hostile",
        spoil: (reply) => JSON.stringify(reply).replaceAll(topic, "7".repeat(topic.length)),
      },
      { methods: receiptMethods },
    );
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
    await chain.mine();
    await letBlocksPass(rig, second);
    await settles(rig, link.id);
  });

  test("invents payments: they wait with those that were taken away, and cost the others nothing", async () => {
    const { first, rig, second } = await open(3);
    first.play({ kind: "invented" });
    const { link } = await payLink(rig);
    await letBlocksPass(rig, second);
    await settles(rig, link.id);
    const waits = () => rig.logLines.filter((line) => line.includes("payments are due")).length;
    await letBlocksPass(rig, second);
    const before = waits();
    await letBlocksPass(rig, second);
    expect(waits()).toBe(before);
    expect(rig.statuses(link.id).toSorted()).toEqual(["processing 7", "processing 7", "settled 7"]);
  });

  const lies = [
    ["is on a fork of its own", { kind: "forked", fromBlock: 25 }],
    ["gives receipts of a thousandfold", { kind: "inflated" }],
    ["invents payments", { kind: "invented" }],
    ["does not move on", { kind: "stale_head", blockCount: 40 }],
    ["knows no receipts", { kind: "no_receipts" }],
    ["shows no logs", { kind: "empty_logs" }],
    ["has headers that are no chain", { kind: "broken_chain" }],
    ["makes blocks older", { kind: "old_blocks" }],
    ["is away", { kind: "down" }],
  ] as const;
  test.each(lies)("%s: what the other two say settles", async (_what, lie) => {
    const { first, rig } = await open(3);
    const fromBlock = (await chain.headNumber()) + 1;
    first.play(lie.kind === "forked" ? { ...lie, fromBlock } : lie);
    const { hash, link } = await payLink(rig);
    const { blockHash } = await chain.client.getTransactionReceipt({ hash });
    const { timestamp } = await chain.client.getBlock({ blockHash });
    await letBlocksPass(rig, rpcs[1] ?? first);
    await settles(rig, link.id);
    const settled = rig.told(link.id).filter(({ status }) => status === "settled");
    const facts = settled.map(({ amount, occurredAt, sourceTransaction }) => ({
      amount,
      sourceTransaction,
      seconds: Date.parse(occurredAt) / 1000,
    }));
    expect(facts).toEqual([{ amount: "7", sourceTransaction: hash, seconds: Number(timestamp) }]);
  });
});
