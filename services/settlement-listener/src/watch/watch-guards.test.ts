import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createCatalogue } from "@payment-links/contracts";
import { sqlVoid, transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { ConfigError, type Metrics, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../service.ts";
import { recordTransfers } from "../payment-reports/record-transfers.ts";
import { insertBlocks } from "../store/chain-blocks.ts";
import { saveReadSpan } from "../store/read-spans.ts";
import { listWatchers, moveCheckpoint, readProgress } from "../store/watchers.ts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { owner } from "../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

let chain: LocalEvmChain;
beforeAll(async () => {
  // `finalized` is eight blocks behind the head, `safe` four.
  chain = await startEvmChain({ slotsInEpoch: 4 });
  await chain.mine(20);
});
afterAll(() => chain.close());

let rig: WatchRig | undefined;
const createRig = async (...args: Parameters<typeof createWatchRig>): Promise<WatchRig> => {
  rig = await createWatchRig(...args);
  return rig;
};
const rpcs: ScriptedRpc[] = [];
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const listStatuses = (rig: WatchRig, linkId: string) =>
  rig
    .publishedPayments(linkId)
    .map(({ status, isOrphaned }) => `${status}${isOrphaned === true ? " orphaned" : ""}`);

const requestResume = (rig: WatchRig, body: { chainId: string; sharedBlock: number }) =>
  fetch(`${rig.internalUrl}/internal/settlement/resume`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Restarts the service on the same database, with another node of the same chain id. */
const startServiceOn = async (rig: WatchRig, node: LocalEvmChain) => {
  const config = { ...rig.config, rpcUrls: new Map([[node.chainId, [node.url]]]) };
  const restartedService = createSettlementListener(
    { ...rig.context, metrics: createMetrics("again") },
    config,
  );
  await restartedService.start();
  return restartedService;
};

describe("the catalogue check at startup", () => {
  test.each([
    ["decimals", { decimals: 7 }, "decimals are 6, not 7"],
    ["symbol", { symbol: "USDT" }, 'the symbol is "USDC", not USDT'],
    ["code", { address: owner }, "there is no contract"],
  ])(
    "a token whose %s differs from the catalogue stops only its chain, with a clear reason (rule CHAIN-9)",
    async (_what, difference, fault) => {
      const [usdc, ...otherTokens] = chain.catalogueData.tokens;
      if (usdc === undefined) throw new Error("the catalogue has no tokens");
      const tokens = [{ ...usdc, ...difference }, ...otherTokens];
      const rig = await createRig({ ...chain, catalogueData: { ...chain.catalogueData, tokens } });
      await rig.service.start();
      const status = await waitUntil("the chain is refused", async () => {
        const status = await rig.readStatus();
        return status.state === "refused" && status;
      });
      expect(status.reason).toContain(fault);
      expect(status.scannedTo).toBeNull();
      expect(await rig.metrics.metrics()).toMatch(/payment_links_chain_refused\{[^}]*\} 1\n/);
      expect(await rig.service.isReady()).toBe(true);
    },
  );

  test("a chain that differs from the catalogue is not checked again at each poll", async () => {
    const [usdc, ...otherTokens] = chain.catalogueData.tokens;
    if (usdc === undefined) throw new Error("the catalogue has no tokens");
    const tokens = [{ ...usdc, decimals: 7 }, ...otherTokens];
    const rpc = await startScriptedRpc({ target: chain.url });
    const pollMs = 50;
    const catalogueData = { ...chain.catalogueData, tokens };
    const rig = await createRig({ ...chain, catalogueData }, { pollMs }, [rpc.url]);
    await rig.service.start();
    await waitUntil(
      "the chain is refused",
      async () => (await rig.readStatus()).state === "refused",
    );
    const callCount = rpc.getCounts().calls;
    await injectDelay("quiet period", 10 * pollMs);
    expect(rpc.getCounts().calls).toBe(callCount);
    await rpc.close();
  });

  test("the case of a symbol makes no difference", async () => {
    const [usdc, ...otherTokens] = chain.catalogueData.tokens;
    if (usdc === undefined) throw new Error("the catalogue has no tokens");
    const tokens = [{ ...usdc, symbol: "UsDc" }, ...otherTokens];
    const rig = await createRig({ ...chain, catalogueData: { ...chain.catalogueData, tokens } });
    await rig.service.start();
    await rig.waitUntilScanned();
  });

  test("a fee proxy without code stops the chain (rule CHAIN-9)", async () => {
    const [onlyChain] = chain.catalogueData.chains;
    if (onlyChain?.feeProxies === undefined) throw new Error("the chain has no fee proxies");
    const chains = [{ ...onlyChain, feeProxies: { ...onlyChain.feeProxies, erc20: owner } }];
    const rig = await createRig({ ...chain, catalogueData: { ...chain.catalogueData, chains } });
    await rig.service.start();
    await waitUntil("the chain is refused", async () =>
      /no contract at the fee proxy/.test((await rig.readStatus()).reason ?? ""),
    );
  });

  test("a chain without fee proxies in the catalogue is a configuration error", async () => {
    const rig = await createRig(chain);
    const chains = chain.catalogueData.chains.map(({ id, name, symbol, chainType, caip2 }) => ({
      id,
      name,
      symbol,
      chainType,
      caip2,
    }));
    const catalogue = createCatalogue({ ...chain.catalogueData, chains });
    const create = () => createSettlementListener({ ...rig.context, catalogue }, rig.config);
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(/RPC_URLS: the catalogue has no fee proxies on chain 1337/);
  });

  test("the service waits for a node that is unreachable at startup", async () => {
    const rpc = await startScriptedRpc({ target: chain.url });
    const outage = rpc.injectFault({ kind: "down" });
    const rig = await createRig(chain, {}, [rpc.url]);
    await rig.service.start();
    await waitUntil("the reason is reported", async () => (await rig.readStatus()).reason !== null);
    expect((await rig.readStatus()).state).toBe("unreachable");
    outage.stop();
    await rig.waitUntilScanned();
    expect((await rig.readStatus()).state).toBe("watching");
    await rpc.close();
  });
});

describe("the reported lag grows while no provider answers", () => {
  const readLagSeconds = async (metrics: Metrics): Promise<number[]> => {
    const metricsText = await metrics.metrics();
    return ["head", "finalized"].map((kind) =>
      Number(new RegExp(`chain_${kind}_lag_seconds\\{.*\\} (.+)`).exec(metricsText)?.[1]),
    );
  };
  const expectLagToGrow = async (metrics: Metrics): Promise<void> => {
    let previous: number[] = [];
    await waitUntil("the lags are reported", async () => {
      previous = await readLagSeconds(metrics);
      return previous.every((age) => age >= 0);
    });
    await waitUntil("the lags have grown", async () => {
      const ages = await readLagSeconds(metrics);
      return ages.every((age, index) => age > (previous[index] ?? Infinity));
    });
    expect(await metrics.metrics()).toMatch(/chain_agreeing_providers\{.*\} 0\n/);
  };
  // Its blocks have current times. Blocks mined in quick succession are one second apart.
  const youngChain = useRig(() => startEvmChain());
  const startWatchedRig = async () => {
    const rpc = await startScriptedRpc({ target: youngChain.url });
    rpcs.push(rpc);
    const rig = await createRig(youngChain, {}, [rpc.url]);
    await rig.service.start();
    await rig.waitUntilScanned();
    return { rig, rpc };
  };

  test("on a chain that this process watched", async () => {
    const { rig, rpc } = await startWatchedRig();
    rpc.injectFault({ kind: "down" });
    await waitUntil(
      "the chain is reported as unreachable",
      async () => (await rig.readStatus()).state === "unreachable",
    );
    await expectLagToGrow(rig.metrics);
  });

  test("on a chain that another process takes over", async () => {
    const { rig, rpc } = await startWatchedRig();
    await rig.service.stop();
    rpc.injectFault({ kind: "down" });
    const metrics = createMetrics("again");
    const restartedService = createSettlementListener({ ...rig.context, metrics }, rig.config);
    await restartedService.start();
    await expectLagToGrow(metrics);
    await restartedService.stop();
  });
});

describe("a commit that takes effect after its step gave up waiting", () => {
  // Postgres can be slow to commit, so the next step may read the progress before that commit takes
  // effect.
  test("does not stop the watch if it takes effect while the next step writes", async () => {
    const secondRpc = await startScriptedRpc({ target: chain.url });
    rpcs.push(secondRpc);
    const rig = await createRig(chain, { finality: "finalized" }, [chain.url, secondRpc.url]);
    await rig.service.start();
    await rig.waitUntilScanned();
    const { chainId } = chain;
    const [watcher] = await listWatchers(rig.pool);
    if (watcher === undefined) throw new Error("the chain is not watched");
    const { finalizedTo, scannedTo, token } = watcher;
    if (finalizedTo === null || scannedTo === null) throw new Error("the watch has not started");
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
      await saveReadSpan(tx, chainId, span);
      await waitUntil("the next step writes", async () => (await countLockWaits(tx)) > 0);
    });
    await rig.waitUntilScanned();
    await chain.mine(2);
    await rig.waitUntilScanned();
    expect(await rig.readStatus()).toMatchObject({ state: "watching", reason: null });
  });
});

describe("a reorg", () => {
  test("keeps the credit of a payment orphaned after it settled, flags it and alerts", async () => {
    const rig = await createRig(chain, { finality: { blocks: 1 } });
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(3);
    await waitUntil(
      "the payment is settled",
      () => listStatuses(rig, link.id).at(-1) === "settled",
    );
    // The block must be scanned, or it would not be reported as orphaned.
    await rig.waitUntilScanned();
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(4);
    await waitUntil(
      "the payment is flagged as orphaned",
      () => listStatuses(rig, link.id).at(-1) === "settled orphaned",
    );
    expect((await rig.readStatus()).orphanedSettledCount).toBe(1);
    const metrics = await rig.metrics.metrics();
    expect(metrics).toMatch(/payment_links_chain_orphaned_after_settled_total\{[^}]*\} 1\n/);
    expect(metrics).toMatch(/payment_links_chain_reorg_depth_blocks_sum\{[^}]*\} 4\n/);
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    await waitUntil(
      "the payment is settled again",
      () => listStatuses(rig, link.id).at(-1) === "settled",
    );
    expect((await rig.readStatus()).orphanedSettledCount).toBe(0);
  });

  test("is handled below a block in which a rescan saw a transfer of the new chain", async () => {
    const rig = await createRig(chain, { finality: { blocks: 50 } });
    const link = await rig.receiveNewLink();
    const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(1);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await chain.mine(5);
    await rig.service.start();
    await rig.waitUntilScanned();
    expect(listStatuses(rig, link.id)).toEqual([]);
    await rig.service.stop();
    await chain.reorg(5, [{ raw, offset: 1 }]);
    const blockNumber = (await chain.readHeadNumber()) - 1;
    const { hash: blockHash } = await chain.client.getBlock({ blockNumber: BigInt(blockNumber) });
    const seenTransfer = sampleTransfer({ chainId: chain.chainId, blockNumber, blockHash });
    await transact(rig.pool, (tx) => recordTransfers(tx, [seenTransfer], new Date()));
    await rig.service.start();
    await waitUntil(
      "the payment is processing",
      () => listStatuses(rig, link.id).at(-1) === "processing",
    );
  });

  test("makes a payment fail once a final block holds another transaction with its nonce (rule CHAIN-5)", async () => {
    const rig = await createRig(chain, { finality: "finalized" });
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n, payer: 1 });
    await chain.mine();
    await waitUntil("the payment is published", () => listStatuses(rig, link.id).length === 1);
    await chain.reorg(1);
    const otherLink = rig.sampleLink();
    await chain.pay({ reference: otherLink.paymentReference, to: owner, amount: 2n, payer: 1 });
    await chain.mine(8);
    await rig.waitUntilScanned();
    expect(listStatuses(rig, link.id)).toEqual(["processing"]);
    await chain.mine(2);
    await waitUntil("the payment has failed", () => listStatuses(rig, link.id).at(-1) === "failed");
  });
});

describe("a halted chain", () => {
  test("reports a reorg past a final block, keeps its data, and continues after an operator resumes it (rules CHAIN-7 and STATE-10)", async () => {
    const otherChain = await startEvmChain({ slotsInEpoch: 1 });
    try {
      await otherChain.mine(20);
      const rig = await createRig(otherChain, { finality: "finalized" });
      await rig.service.start();
      const link = await rig.receiveNewLink();
      await rig.waitUntilScanned();
      await otherChain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
      await otherChain.mine(4);
      await waitUntil(
        "the payment is settled",
        () => listStatuses(rig, link.id).at(-1) === "settled",
      );
      await rig.waitUntilScanned();
      const statusBefore = await rig.readStatus();
      await otherChain.reorg(10);
      const haltedStatus = await waitUntil("the chain is halted", async () => {
        const status = await rig.readStatus();
        return status.state === "halted" && status;
      });
      expect(haltedStatus.reason).toContain(`below block ${statusBefore.finalizedTo}`);
      expect(haltedStatus).toMatchObject({
        scannedTo: statusBefore.scannedTo,
        finalizedTo: statusBefore.finalizedTo,
      });
      await waitUntil("the gauge is set", async () =>
        /payment_links_chain_halted\{[^}]*\} 1\n/.test(await rig.metrics.metrics()),
      );
      await otherChain.mine(3);
      expect(await rig.readStatus()).toMatchObject({
        state: "halted",
        scannedTo: statusBefore.scannedTo,
      });
      expect(listStatuses(rig, link.id).at(-1)).toBe("settled");
      expect(await rig.service.isReady()).toBe(true);

      const sharedBlock = (await otherChain.readHeadNumber()) - 13;
      const resumeChain = () => requestResume(rig, { chainId: otherChain.chainId, sharedBlock });
      expect((await resumeChain()).status).toBe(202);
      const orphanedSettledPattern =
        /payment_links_chain_orphaned_after_settled_total\{[^}]*\} 1\n/;
      expect(await rig.metrics.metrics()).toMatch(orphanedSettledPattern);
      expect(rig.logLines).toContainEqual(
        expect.stringMatching(/"level":"error".*settled payment orphaned by a reorg/),
      );
      await waitUntil(
        "the chain is watched",
        async () => (await rig.readStatus()).state === "watching",
      );
      await rig.waitUntilScanned();
      expect(await rig.readStatus()).toMatchObject({ orphanedSettledCount: 1 });
      await waitUntil(
        "the payment is flagged as orphaned",
        () => listStatuses(rig, link.id).at(-1) === "settled orphaned",
      );
      expect((await resumeChain()).status).toBe(404);
    } finally {
      await otherChain.close();
    }
  });
});

describe("a halted chain whose only node is unreachable at a restart", () => {
  test("is reported as halted by its gauge", async () => {
    const otherChain = await startEvmChain({ slotsInEpoch: 1 });
    const rpc = await startScriptedRpc({ target: otherChain.url });
    rpcs.push(rpc);
    try {
      await otherChain.mine(20);
      const rig = await createRig(otherChain, { finality: "finalized" }, [rpc.url]);
      await rig.service.start();
      await rig.waitUntilScanned();
      await otherChain.reorg(10);
      await waitUntil(
        "the chain is halted",
        async () => (await rig.readStatus()).state === "halted",
      );
      await rig.service.stop();
      rpc.injectFault({ kind: "down" });
      const metrics = createMetrics("again");
      const restartedService = createSettlementListener({ ...rig.context, metrics }, rig.config);
      await restartedService.start();
      await waitUntil("the agreement gauge is 0", async () =>
        /payment_links_chain_agreeing_providers\{[^}]*\} 0\n/.test(await metrics.metrics()),
      );
      expect(await metrics.metrics()).toMatch(/payment_links_chain_halted\{[^}]*\} 1\n/);
      await restartedService.stop();
    } finally {
      await otherChain.close();
    }
  });
});

describe("a chain after it is resumed", () => {
  test("settles what was paid while it was halted, without a rescan", async () => {
    const otherChain = await startEvmChain({ slotsInEpoch: 1 });
    try {
      await otherChain.mine(20);
      const rig = await createRig(otherChain, { finality: "finalized", rangeBlocksMax: 5 });
      await rig.service.start();
      const link = await rig.receiveNewLink();
      await rig.waitUntilScanned();
      const sharedBlock = (await otherChain.readHeadNumber()) - 10;
      await otherChain.reorg(10);
      await waitUntil(
        "the chain is halted",
        async () => (await rig.readStatus()).state === "halted",
      );
      await otherChain.mine(7);
      await otherChain.pay({ reference: link.paymentReference, to: owner, amount: 3n });
      await otherChain.mine(12);
      const resumeResponse = await requestResume(rig, { chainId: otherChain.chainId, sharedBlock });
      expect(resumeResponse.status).toBe(202);
      await rig.waitUntilScanned();
      await waitUntil(
        "the payment is settled",
        () => listStatuses(rig, link.id).at(-1) === "settled",
      );
      expect(await rig.readStatus()).toMatchObject({ firstBlock: sharedBlock });
    } finally {
      await otherChain.close();
    }
  });
});

describe("a chain that restarts from its first block between two starts", () => {
  test("settles what was paid on it before the second start if it is disposable", async () => {
    const oldChain = await startEvmChain({ slotsInEpoch: 1 });
    await oldChain.mine(5);
    const rig = await createRig(oldChain, { isDisposable: true });
    await rig.service.start();
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    await rig.service.stop();
    await oldChain.close();
    const newChain = await startEvmChain({ slotsInEpoch: 1 });
    try {
      await newChain.setNextBlockTime(Math.floor(Date.now() / 1000) + 3600);
      await newChain.mine(1);
      await newChain.pay({ reference: link.paymentReference, to: owner, amount: 3n });
      await newChain.mine(30);
      const restartedService = await startServiceOn(rig, newChain);
      await waitUntil(
        "the payment is settled",
        () => listStatuses(rig, link.id).at(-1) === "settled",
      );
      await restartedService.stop();
    } finally {
      await newChain.close();
    }
  });

  test.each([
    [true, "watching"],
    [false, "halted"],
  ])("with isDisposable %s, is %s afterwards", async (isDisposable, state) => {
    const oldChain = await startEvmChain({ slotsInEpoch: 1 });
    await oldChain.mine(5);
    const rig = await createRig(oldChain, { isDisposable });
    await rig.service.start();
    await rig.waitUntilScanned();
    await rig.service.stop();
    await oldChain.close();
    const newChain = await startEvmChain({ slotsInEpoch: 1 });
    try {
      // Two nodes that start in the same second mine equal blocks, unless their block times differ.
      await newChain.setNextBlockTime(Math.floor(Date.now() / 1000) + 3600);
      await newChain.mine(30);
      const restartedService = await startServiceOn(rig, newChain);
      await waitUntil(`the chain is ${state}`, async () => {
        const { haltedReason, scannedTo } = await readProgress(rig.pool, newChain.chainId);
        return isDisposable
          ? haltedReason === null && scannedTo === (await newChain.readHeadNumber())
          : haltedReason !== null;
      });
      await restartedService.stop();
    } finally {
      await newChain.close();
    }
  });
});

describe("two processes", () => {
  test("leave no gauge behind where the process lost the leadership while its node did not answer", async () => {
    const rpc = await startScriptedRpc({ target: chain.url });
    rpcs.push(rpc);
    const rig = await createRig(chain, { finality: "finalized" }, [rpc.url]);
    await rig.service.start();
    await rig.waitUntilScanned();
    const readGauges = async () =>
      (await rig.metrics.metrics()).match(/payment_links_chain_(agreeing|head_lag|halted)\w*\{/g);
    expect(await readGauges()).not.toBeNull();
    const delayedReplies = rpc.injectFault({ kind: "late", delayMs: 6_000 });
    await waitUntil("a request hangs", () => delayedReplies.getHitCount() > 0);
    await rig.pool.query(sqlVoid`
      UPDATE watchers SET fencing_token = fencing_token + 1, lease_until = now() + interval '1 hour'
      WHERE chain_id = ${chain.chainId}
    `);
    await waitUntil("the lost lease is logged", () =>
      rig.logLines.some((line) => line.includes("another process now watches this chain")),
    );
    delayedReplies.stop();
    // After the service has stopped, the work that was in progress when the leadership was lost has
    // ended too.
    await rig.service.stop();
    expect(await readGauges()).toBeNull();
  });

  test("watch a chain one at a time, and the second continues where the first stopped", async () => {
    const rig = await createRig(chain, { finality: { blocks: 1 } });
    const secondService = createSettlementListener(
      { ...rig.context, metrics: createMetrics("second") },
      rig.config,
    );
    await rig.service.start();
    await rig.waitUntilScanned();
    await secondService.start();
    const link = await rig.receiveNewLink();
    const payAmount = async (amount: bigint) => {
      await chain.pay({ reference: link.paymentReference, to: owner, amount });
      await chain.mine(2);
    };
    await payAmount(1n);
    await waitUntil("the first watch publishes", () => rig.publishedPayments(link.id).length > 0);
    expect((await rig.readStatus()).isLeader).toBe(true);
    await rig.service.stop();
    await payAmount(2n);
    await waitUntil("the second watch publishes", () =>
      rig
        .publishedPayments(link.id)
        .some(({ amount, status }) => amount === "0.000002" && status === "settled"),
    );
    await secondService.stop();
    const settled = rig.publishedPayments(link.id).filter(({ status }) => status === "settled");
    expect(settled.map(({ amount }) => amount)).toEqual(["0.000001", "0.000002"]);
  });
});
