import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createCatalogue } from "@payment-links/contracts";
import { nothing, transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { ConfigError, type Metrics, openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../service.ts";
import { recordTransfers } from "../sightings/record-transfers.ts";
import { insertBlocks } from "../store/chain-blocks.ts";
import { saveSpan } from "../store/read-spans.ts";
import { listWatchers, moveCheckpoint, readProgress } from "../store/watchers.ts";
import { type Chain, openChain } from "../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { owner } from "../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../testing/scripted-rpc.ts";

let chain: Chain;
beforeAll(async () => {
  // `finalized` is eight blocks behind the head, `safe` four.
  chain = await openChain({ slotsInEpoch: 4 });
  await chain.mine(20);
});
afterAll(() => chain.close());

let rig: WatchRig | undefined;
const open = async (...given: Parameters<typeof openWatchRig>): Promise<WatchRig> => {
  rig = await openWatchRig(...given);
  return rig;
};
const rpcs: ScriptedRpc[] = [];
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const statusOf = (rig: WatchRig, linkId: string) =>
  rig
    .told(linkId)
    .map(({ status, isOrphaned }) => `${status}${isOrphaned === true ? " orphaned" : ""}`);

const askResume = (rig: WatchRig, body: { chainId: string; sharedBlock: number }) =>
  fetch(`${rig.internalUrl}/internal/settlement/resume`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Starts the service once more on the same database, with another node of the same chain id. */
const startOn = async (rig: WatchRig, node: Chain) => {
  const config = { ...rig.config, rpcUrls: new Map([[node.chainId, [node.url]]]) };
  const again = createSettlementListener({ ...rig.ground, metrics: openMetrics("again") }, config);
  await again.start();
  return again;
};

describe("the self-check at start", () => {
  test.each([
    ["decimals", { decimals: 7 }, "decimals are 6, not 7"],
    ["symbol", { symbol: "USDT" }, 'the symbol is "USDC", not USDT'],
    ["code", { address: owner }, "there is no contract"],
  ])(
    "a token whose %s is not the catalogue's stops the chain with a clear word, and nothing else (rule CHAIN-9)",
    async (_what, change, fault) => {
      const [usdc, ...others] = chain.catalogueData.tokens;
      if (usdc === undefined) throw new Error("the catalogue has tokens");
      const tokens = [{ ...usdc, ...change }, ...others];
      const rig = await open({ ...chain, catalogueData: { ...chain.catalogueData, tokens } });
      await rig.service.start();
      const status = await waitUntil("it is refused", async () => {
        const status = await rig.readStatus();
        return status.state === "refused" && status;
      });
      expect(status.reason).toContain(fault);
      expect(status.scannedTo).toBeNull();
      expect(await rig.metrics.metrics()).toMatch(/payment_links_chain_refused\{[^}]*\} 1\n/);
      expect(await rig.service.isReady()).toBe(true);
    },
  );

  test("a chain that is refused is not asked again at each poll", async () => {
    const [usdc, ...others] = chain.catalogueData.tokens;
    if (usdc === undefined) throw new Error("the catalogue has tokens");
    const tokens = [{ ...usdc, decimals: 7 }, ...others];
    const rpc = await openScriptedRpc({ target: chain.url });
    const pollMs = 50;
    const catalogueData = { ...chain.catalogueData, tokens };
    const rig = await open({ ...chain, catalogueData }, { pollMs }, [rpc.url]);
    await rig.service.start();
    await waitUntil("it is refused", async () => (await rig.readStatus()).state === "refused");
    const asked = rpc.counts().calls;
    await injectDelay("quiet period", 10 * pollMs);
    expect(rpc.counts().calls).toBe(asked);
    await rpc.close();
  });

  test("letter case of a symbol is nobody's mistake", async () => {
    const [usdc, ...others] = chain.catalogueData.tokens;
    if (usdc === undefined) throw new Error("the catalogue has tokens");
    const tokens = [{ ...usdc, symbol: "UsDc" }, ...others];
    const rig = await open({ ...chain, catalogueData: { ...chain.catalogueData, tokens } });
    await rig.service.start();
    await rig.caughtUp();
  });

  test("a fee proxy without code stops the chain (rule CHAIN-9)", async () => {
    const [only] = chain.catalogueData.chains;
    if (only?.feeProxies === undefined) throw new Error("the chain has proxies");
    const chains = [{ ...only, feeProxies: { ...only.feeProxies, erc20: owner } }];
    const rig = await open({ ...chain, catalogueData: { ...chain.catalogueData, chains } });
    await rig.service.start();
    await waitUntil("it is refused", async () =>
      /no contract at the fee proxy/.test((await rig.readStatus()).reason ?? ""),
    );
  });

  test("a chain without fee proxies in the catalogue is a fault of the configuration", async () => {
    const rig = await open(chain);
    const chains = chain.catalogueData.chains.map(({ id, name, symbol, chainType, caip2 }) => ({
      id,
      name,
      symbol,
      chainType,
      caip2,
    }));
    const catalogue = createCatalogue({ ...chain.catalogueData, chains });
    const create = () => createSettlementListener({ ...rig.ground, catalogue }, rig.config);
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(/RPC_URLS: the catalogue has no fee proxies on chain 1337/);
  });

  test("a node that is away at the start is waited for", async () => {
    const rpc = await openScriptedRpc({ target: chain.url });
    const outage = rpc.play({ kind: "down" });
    const rig = await open(chain, {}, [rpc.url]);
    await rig.service.start();
    await waitUntil("it is told", async () => (await rig.readStatus()).reason !== null);
    expect((await rig.readStatus()).state).toBe("unreachable");
    outage.stop();
    await rig.caughtUp();
    expect((await rig.readStatus()).state).toBe("watching");
    await rpc.close();
  });
});

describe("while nobody answers, the last blocks grow older, by which somebody is paged,", () => {
  const readAges = async (metrics: Metrics): Promise<number[]> => {
    const told = await metrics.metrics();
    return ["head", "finalized"].map((of) =>
      Number(new RegExp(`chain_${of}_lag_seconds\\{.*\\} (.+)`).exec(told)?.[1]),
    );
  };
  const seeThemGrow = async (metrics: Metrics): Promise<void> => {
    let before: number[] = [];
    await waitUntil("they are told", async () => {
      before = await readAges(metrics);
      return before.every((age) => age >= 0);
    });
    await waitUntil("they have grown", async () => {
      const ages = await readAges(metrics);
      return ages.every((age, at) => age > (before[at] ?? Infinity));
    });
    expect(await metrics.metrics()).toMatch(/chain_agreeing_providers\{.*\} 0\n/);
  };
  // Its blocks are of now: each that is mined at once is a second further on.
  const young = useRig(() => openChain());
  const openWatched = async () => {
    const rpc = await openScriptedRpc({ target: young.url });
    rpcs.push(rpc);
    const rig = await open(young, {}, [rpc.url]);
    await rig.service.start();
    await rig.caughtUp();
    return { rig, rpc };
  };

  test("after it has been watched", async () => {
    const { rig, rpc } = await openWatched();
    rpc.play({ kind: "down" });
    await waitUntil("it is told", async () => (await rig.readStatus()).state === "unreachable");
    await seeThemGrow(rig.metrics);
  });

  test("also as another process takes it over", async () => {
    const { rig, rpc } = await openWatched();
    await rig.service.stop();
    rpc.play({ kind: "down" });
    const metrics = openMetrics("again");
    const again = createSettlementListener({ ...rig.ground, metrics }, rig.config);
    await again.start();
    await seeThemGrow(metrics);
    await again.stop();
  });
});

describe("a commit for whose answer a step has stopped waiting", () => {
  // Postgres may be slow with it. What follows has read by then how far the watch had come before it.
  test("and that takes effect while the next step writes is gone on from", async () => {
    const second = await openScriptedRpc({ target: chain.url });
    rpcs.push(second);
    const rig = await open(chain, { finality: "finalized" }, [chain.url, second.url]);
    await rig.service.start();
    await rig.caughtUp();
    const { chainId } = chain;
    const [watcher] = await listWatchers(rig.pool);
    if (watcher === undefined) throw new Error("the chain is watched");
    const { finalizedTo, scannedTo, token } = watcher;
    if (finalizedTo === null || scannedTo === null) throw new Error("the watch has begun");
    const number = scannedTo + 1;
    await transact(rig.pool, async (tx) => {
      const to = { scannedTo: number, finalizedTo };
      await moveCheckpoint(tx, { chainId, token }, watcher, to);
      await chain.mine();
      const { hash, parentHash, timestamp } = await chain.client.getBlock({
        blockNumber: BigInt(number),
      });
      const minedAt = new Date(Number(timestamp) * 1000);
      await insertBlocks(tx, chainId, [{ number, hash, parentHash, minedAt }]);
      const span = { fromBlock: number, toBlock: number, provider: "another" };
      await saveSpan(tx, chainId, span);
      await waitUntil("the next step writes", async () => (await countLockWaits(tx)) > 0);
    });
    await rig.caughtUp();
    await chain.mine(2);
    await rig.caughtUp();
    expect(await rig.readStatus()).toMatchObject({ state: "watching", reason: null });
  });
});

describe("what a reorg does to the settled", () => {
  test("a payment orphaned after it settled keeps its credit, is flagged, and alarms", async () => {
    const rig = await open(chain, { finality: { blocks: 1 } });
    await rig.service.start();
    const link = await rig.hearNew();
    await rig.caughtUp();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(3);
    await waitUntil("it is settled", () => statusOf(rig, link.id).at(-1) === "settled");
    // A block that it has not seen yet would not count as one that it has lost.
    await rig.caughtUp();
    const raw = await chain.rawOf(hash);
    await chain.reorg(4);
    await waitUntil("it is flagged", () => statusOf(rig, link.id).at(-1) === "settled orphaned");
    expect((await rig.readStatus()).orphanedSettledCount).toBe(1);
    const metrics = await rig.metrics.metrics();
    expect(metrics).toMatch(/payment_links_chain_orphaned_after_settled_total\{[^}]*\} 1\n/);
    expect(metrics).toMatch(/payment_links_chain_reorg_depth_blocks_sum\{[^}]*\} 4\n/);
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    await waitUntil("it is back", () => statusOf(rig, link.id).at(-1) === "settled");
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });

  test("what a rescan saw on the new chain hides nothing below it", async () => {
    const rig = await open(chain, { finality: { blocks: 50 } });
    const link = await rig.hearNew();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(1);
    const raw = await chain.rawOf(hash);
    await chain.reorg(1);
    await chain.mine(5);
    await rig.service.start();
    await rig.caughtUp();
    expect(statusOf(rig, link.id)).toEqual([]);
    await rig.service.stop();
    await chain.reorg(5, [{ raw, offset: 1 }]);
    const blockNumber = (await chain.headNumber()) - 1;
    const { hash: blockHash } = await chain.client.getBlock({ blockNumber: BigInt(blockNumber) });
    const seen = sampleTransfer({ chainId: chain.chainId, blockNumber, blockHash });
    await transact(rig.pool, (tx) => recordTransfers(tx, [seen], new Date()));
    await rig.service.start();
    await waitUntil("it is told", () => statusOf(rig, link.id).at(-1) === "processing");
  });

  test("a payment whose nonce a final block gives to another transaction has failed (rule CHAIN-5)", async () => {
    const rig = await open(chain, { finality: "finalized" });
    await rig.service.start();
    const link = await rig.hearNew();
    await rig.caughtUp();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n, payer: 1 });
    await chain.mine();
    await waitUntil("it is seen", () => statusOf(rig, link.id).length === 1);
    await chain.reorg(1);
    const other = rig.sampleLink();
    await chain.pay({ reference: other.paymentReference, to: owner, amount: 2n, payer: 1 });
    await chain.mine(8);
    await rig.caughtUp();
    expect(statusOf(rig, link.id)).toEqual(["processing"]);
    await chain.mine(2);
    await waitUntil("it has failed", () => statusOf(rig, link.id).at(-1) === "failed");
  });
});

describe("a chain that is halted", () => {
  test("by a reorg past what was final says so, keeps all it had, and goes on once an operator says so (rules CHAIN-7 and STATE-10)", async () => {
    const other = await openChain({ slotsInEpoch: 1 });
    try {
      await other.mine(20);
      const rig = await open(other, { finality: "finalized" });
      await rig.service.start();
      const link = await rig.hearNew();
      await rig.caughtUp();
      await other.pay({ reference: link.paymentReference, to: owner, amount: 1n });
      await other.mine(4);
      await waitUntil("it is settled", () => statusOf(rig, link.id).at(-1) === "settled");
      await rig.caughtUp();
      const before = await rig.readStatus();
      await other.reorg(10);
      const halted = await waitUntil("it is halted", async () => {
        const status = await rig.readStatus();
        return status.state === "halted" && status;
      });
      expect(halted.reason).toContain(`below block ${before.finalizedTo}`);
      expect(halted).toMatchObject({
        scannedTo: before.scannedTo,
        finalizedTo: before.finalizedTo,
      });
      await waitUntil("the gauge says so", async () =>
        /payment_links_chain_halted\{[^}]*\} 1\n/.test(await rig.metrics.metrics()),
      );
      await other.mine(3);
      expect(await rig.readStatus()).toMatchObject({
        state: "halted",
        scannedTo: before.scannedTo,
      });
      expect(statusOf(rig, link.id).at(-1)).toBe("settled");
      expect(await rig.service.isReady()).toBe(true);

      const sharedBlock = (await other.headNumber()) - 13;
      const resume = () => askResume(rig, { chainId: other.chainId, sharedBlock });
      expect((await resume()).status).toBe(202);
      const flagged = /payment_links_chain_orphaned_after_settled_total\{[^}]*\} 1\n/;
      expect(await rig.metrics.metrics()).toMatch(flagged);
      expect(rig.logLines).toContainEqual(
        expect.stringMatching(/"level":"error".*a settled payment was taken away/),
      );
      await waitUntil("it watches", async () => (await rig.readStatus()).state === "watching");
      await rig.caughtUp();
      expect(await rig.readStatus()).toMatchObject({ orphanedSettledCount: 1 });
      await waitUntil(
        "the owner can be told",
        () => statusOf(rig, link.id).at(-1) === "settled orphaned",
      );
      expect((await resume()).status).toBe(404);
    } finally {
      await other.close();
    }
  });
});

describe("a chain that is halted and whose only node is away at a restart", () => {
  test("says in its gauge that it is halted", async () => {
    const other = await openChain({ slotsInEpoch: 1 });
    const rpc = await openScriptedRpc({ target: other.url });
    rpcs.push(rpc);
    try {
      await other.mine(20);
      const rig = await open(other, { finality: "finalized" }, [rpc.url]);
      await rig.service.start();
      await rig.caughtUp();
      await other.reorg(10);
      await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
      await rig.service.stop();
      rpc.play({ kind: "down" });
      const metrics = openMetrics("again");
      const again = createSettlementListener({ ...rig.ground, metrics }, rig.config);
      await again.start();
      await waitUntil("it has tried", async () =>
        /payment_links_chain_agreeing_providers\{[^}]*\} 0\n/.test(await metrics.metrics()),
      );
      expect(await metrics.metrics()).toMatch(/payment_links_chain_halted\{[^}]*\} 1\n/);
      await again.stop();
    } finally {
      await other.close();
    }
  });
});

describe("a chain that goes on after a halt", () => {
  test("settles what was paid while it stood still, without being told to look for it", async () => {
    const other = await openChain({ slotsInEpoch: 1 });
    try {
      await other.mine(20);
      const rig = await open(other, { finality: "finalized", rangeBlocksMax: 5 });
      await rig.service.start();
      const link = await rig.hearNew();
      await rig.caughtUp();
      const sharedBlock = (await other.headNumber()) - 10;
      await other.reorg(10);
      await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
      await other.mine(7);
      await other.pay({ reference: link.paymentReference, to: owner, amount: 3n });
      await other.mine(12);
      const resumed = await askResume(rig, { chainId: other.chainId, sharedBlock });
      expect(resumed.status).toBe(202);
      await rig.caughtUp();
      await waitUntil("it is settled", () => statusOf(rig, link.id).at(-1) === "settled");
      expect(await rig.readStatus()).toMatchObject({ firstBlock: sharedBlock });
    } finally {
      await other.close();
    }
  });
});

describe("a chain that begins anew between two starts", () => {
  test("where it is disposable, settles what was paid on it before the second start", async () => {
    const old = await openChain({ slotsInEpoch: 1 });
    await old.mine(5);
    const rig = await open(old, { isDisposable: true });
    await rig.service.start();
    const link = await rig.hearNew();
    await rig.caughtUp();
    await rig.service.stop();
    await old.close();
    const fresh = await openChain({ slotsInEpoch: 1 });
    try {
      await fresh.setTime(Math.floor(Date.now() / 1000) + 3600);
      await fresh.mine(1);
      await fresh.pay({ reference: link.paymentReference, to: owner, amount: 3n });
      await fresh.mine(30);
      const again = await startOn(rig, fresh);
      await waitUntil("it is settled", () => statusOf(rig, link.id).at(-1) === "settled");
      await again.stop();
    } finally {
      await fresh.close();
    }
  });

  test.each([
    [true, "watching"],
    [false, "halted"],
  ])("where it is disposable (%s), is then %s", async (isDisposable, state) => {
    const old = await openChain({ slotsInEpoch: 1 });
    await old.mine(5);
    const rig = await open(old, { isDisposable });
    await rig.service.start();
    await rig.caughtUp();
    await rig.service.stop();
    await old.close();
    const fresh = await openChain({ slotsInEpoch: 1 });
    try {
      // Two nodes that began in one second have equal blocks, unless the time is told apart.
      await fresh.setTime(Math.floor(Date.now() / 1000) + 3600);
      await fresh.mine(30);
      const again = await startOn(rig, fresh);
      await waitUntil(`it is ${state}`, async () => {
        const { haltedReason, scannedTo } = await readProgress(rig.pool, fresh.chainId);
        return isDisposable
          ? haltedReason === null && scannedTo === (await fresh.headNumber())
          : haltedReason !== null;
      });
      await again.stop();
    } finally {
      await fresh.close();
    }
  });
});

describe("two processes", () => {
  test("of which one lost the lead while its nodes hung: it leaves no gauge behind", async () => {
    const rpc = await openScriptedRpc({ target: chain.url });
    rpcs.push(rpc);
    const rig = await open(chain, { finality: "finalized" }, [rpc.url]);
    await rig.service.start();
    await rig.caughtUp();
    const gauges = async () =>
      (await rig.metrics.metrics()).match(/payment_links_chain_(agreeing|head_lag|halted)\w*\{/g);
    expect(await gauges()).not.toBeNull();
    const late = rpc.play({ kind: "late", delayMs: 6_000 });
    await waitUntil("it hangs", () => late.struckCount() > 0);
    await rig.pool.query(nothing`
      UPDATE watchers SET fencing_token = fencing_token + 1, lease_until = now() + interval '1 hour'
      WHERE chain_id = ${chain.chainId}
    `);
    await waitUntil("it is told", () =>
      rig.logLines.some((line) => line.includes("another process watches this chain by now")),
    );
    late.stop();
    // What was under way when the lead was lost has ended once the service has.
    await rig.service.stop();
    expect(await gauges()).toBeNull();
  });

  test("watch a chain one at a time, and the second goes on where the first one stopped", async () => {
    const rig = await open(chain, { finality: { blocks: 1 } });
    const second = createSettlementListener(
      { ...rig.ground, metrics: openMetrics("second") },
      rig.config,
    );
    await rig.service.start();
    await rig.caughtUp();
    await second.start();
    const link = await rig.hearNew();
    const pay = async (amount: bigint) => {
      await chain.pay({ reference: link.paymentReference, to: owner, amount });
      await chain.mine(2);
    };
    await pay(1n);
    await waitUntil("the first one tells", () => rig.told(link.id).length > 0);
    expect((await rig.readStatus()).isLeader).toBe(true);
    await rig.service.stop();
    await pay(2n);
    await waitUntil("the second one tells", () =>
      rig.told(link.id).some(({ amount, status }) => amount === "0.000002" && status === "settled"),
    );
    await second.stop();
    const settled = rig.told(link.id).filter(({ status }) => status === "settled");
    expect(settled.map(({ amount }) => amount)).toEqual(["0.000001", "0.000002"]);
  });
});
