import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { waitUntil } from "@payment-links/runtime/testing";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import {
  type LocalTronChain,
  startTronChain,
} from "@payment-links/local-chains/tron/start-tron-chain";

const finalizedLag = 8;
const daySeconds = 24 * 60 * 60;

let chain: LocalTronChain;
beforeAll(async () => {
  chain = await startTronChain({ finalizedLag });
  await chain.mine(20);
});
afterAll(() => chain?.close());

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const startRig = async (
  node: Parameters<typeof createWatchRig>[0],
  override: Parameters<typeof createWatchRig>[1] = {},
  urls: readonly string[] = [node.url],
): Promise<WatchRig> => {
  const watchRig = await createWatchRig(node, { finality: "finalized", ...override }, urls);
  rig = watchRig;
  await watchRig.service.start();
  return watchRig;
};

/** Starts a watch with two providers and waits until it has caught up. */
const startRigWithTwoProviders = async () => {
  rpcs.push(await startScriptedRpc({ target: chain.url }));
  rpcs.push(await startScriptedRpc({ target: chain.url }));
  const [firstProvider, secondProvider] = rpcs;
  if (firstProvider === undefined || secondProvider === undefined)
    throw new Error("there are not two");
  const watchRig = await startRig(chain, {}, [firstProvider.url, secondProvider.url]);
  await watchRig.waitUntilScanned();
  return { rig: watchRig, first: firstProvider, secondProvider };
};

const listStatuses = (rig: WatchRig, linkId: string) =>
  rig
    .publishedPayments(linkId)
    .map(({ status, isOrphaned }) => `${status}${isOrphaned === true ? " orphaned" : ""}`);

/** Pays a link in the newest block and waits until the payment is published. */
const payLink = async (rig: WatchRig, payer: 0 | 1 | 2 = 0, node: LocalTronChain = chain) => {
  const link = await rig.receiveNewLink();
  await rig.waitUntilScanned();
  const hash = await node.pay({ reference: link.paymentReference, to: owner, amount: 7n, payer });
  await node.mine();
  await waitUntil("the payment is published", () => listStatuses(rig, link.id).length === 1);
  await rig.waitUntilScanned();
  return { link, hash };
};

/** Mines a block whose time is this many seconds after the newest block. */
const advanceChainTime = async (seconds: number): Promise<void> => {
  const { timestamp } = await chain.client.getBlock();
  await chain.setNextBlockTime(Number(timestamp) + seconds);
  await chain.mine();
};

describe("the catalogue check at the start", () => {
  const waitForRejection = async (rig: WatchRig) =>
    await waitUntil("it is refused", async () => {
      const { reason, state } = await rig.readStatus();
      return state === "refused" && (reason ?? "");
    });

  test.each([
    ["decimals", { decimals: 7 }, "decimals are 6, not 7"],
    ["symbol", { symbol: "USDT" }, 'the symbol is "USDC", not USDT'],
    [
      "code",
      { address: tronAddressFromHex(owner) },
      `at ${tronAddressFromHex(owner)}: there is no contract`,
    ],
  ])(
    "stops the chain if a token's %s differs from the catalogue",
    async (_what, overrides, fault) => {
      const { catalogueData } = chain;
      const [usdc, ...otherTokens] = catalogueData.tokens;
      if (usdc === undefined) throw new Error("the catalogue has no tokens");
      const tokens = [{ ...usdc, ...overrides }, ...otherTokens];
      const watchRig = await startRig({ ...chain, catalogueData: { ...catalogueData, tokens } });
      expect(await waitForRejection(watchRig)).toContain(fault);
    },
  );

  test("stops the chain if a fee proxy has no code, or a node serves another Tron network (rule CHAIN-9)", async () => {
    const { catalogueData } = chain;
    const [localChain] = catalogueData.chains;
    if (localChain?.feeProxies === undefined) throw new Error("the chain has no proxy");
    const proxies = { ...localChain.feeProxies, erc20: tronAddressFromHex(owner) };
    const dataWithoutCode = { ...catalogueData, chains: [{ ...localChain, feeProxies: proxies }] };
    const watchRig = await startRig({ ...chain, catalogueData: dataWithoutCode });
    expect(await waitForRejection(watchRig)).toContain(`fee proxy ${tronAddressFromHex(owner)}`);
    await watchRig.close();
    const mainnetData = { ...catalogueData, chains: [{ ...localChain, caip2: "tron:0x2b6653dc" }] };
    const otherRig = await startRig({ ...chain, catalogueData: mainnetData });
    expect(await waitForRejection(otherRig)).toContain("the node serves chain 1338");
  });
});

describe("a payment that a fork orphans", () => {
  test("stays one payment if another block contains it", async () => {
    const watchRig = await startRig(chain);
    const { hash, link } = await payLink(watchRig);
    const raw = await chain.readRawTransaction(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => listStatuses(watchRig, link.id).length === 2);
    expect(listStatuses(watchRig, link.id)).toEqual(["processing", "settled"]);
  });

  test("fails once a solid block is a day later than its own, and not before (rule CHAIN-5)", async () => {
    const watchRig = await startRig(chain);
    const firstPayment = await payLink(watchRig, 1);
    await chain.reorg(1);
    await advanceChainTime(2_000);
    const secondPayment = await payLink(watchRig, 2);
    await chain.reorg(1);
    // Another transaction of the same account proves nothing, because Tron has no nonces.
    await chain.pay({ reference: "ee".repeat(16), to: owner, amount: 1n, payer: 2 });
    await advanceChainTime(daySeconds - 1_000);
    await chain.mine(finalizedLag);
    // Both payments are checked at the same time.
    await waitUntil(
      "one has failed",
      () => listStatuses(watchRig, firstPayment.link.id).at(-1) === "failed",
    );
    expect(listStatuses(watchRig, secondPayment.link.id)).toEqual(["processing"]);
    await advanceChainTime(2_000);
    await chain.mine(finalizedLag);
    await waitUntil(
      "it has failed",
      () => listStatuses(watchRig, secondPayment.link.id).at(-1) === "failed",
    );
  });

  test("settles if it is mined again within the day", async () => {
    const watchRig = await startRig(chain);
    const { hash, link } = await payLink(watchRig);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await advanceChainTime(daySeconds - 600);
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => listStatuses(watchRig, link.id).at(-1) === "settled");
    expect(listStatuses(watchRig, link.id)).toEqual(["processing", "settled"]);
  });

  test("keeps its credit after it settled with fewer blocks, and is flagged until it is back", async () => {
    const watchRig = await startRig(chain, { finality: { blocks: 1 } });
    const { hash, link } = await payLink(watchRig);
    await chain.mine(2);
    await waitUntil("it is settled", () => listStatuses(watchRig, link.id).at(-1) === "settled");
    await watchRig.waitUntilScanned();
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(4);
    await waitUntil(
      "it is flagged",
      () => listStatuses(watchRig, link.id).at(-1) === "settled orphaned",
    );
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    await waitUntil("it settles again", () => listStatuses(watchRig, link.id).at(-1) === "settled");
  });

  test("halts the chain and stays unchanged if it was in a solid block", async () => {
    const otherChain = await startTronChain({ finalizedLag: 2 });
    try {
      await otherChain.mine(20);
      const watchRig = await startRig(otherChain);
      const { link } = await payLink(watchRig, 0, otherChain);
      await otherChain.mine(4);
      await waitUntil("it is settled", () => listStatuses(watchRig, link.id).at(-1) === "settled");
      await watchRig.waitUntilScanned();
      await otherChain.reorg(10);
      await waitUntil("it is halted", async () => (await watchRig.readStatus()).state === "halted");
      expect(listStatuses(watchRig, link.id)).toEqual(["processing", "settled"]);
    } finally {
      await otherChain.close();
    }
  });
});

describe("two providers", () => {
  test("report a payment while one of them is down, and settle it once both return it", async () => {
    const watch = await startRigWithTwoProviders();
    const outage = watch.secondProvider.injectFault({ kind: "down" });
    const { link } = await payLink(watch.rig);
    await chain.mine(finalizedLag + 2);
    await watch.rig.waitUntilScanned();
    expect(listStatuses(watch.rig, link.id)).toEqual(["processing"]);
    outage.stop();
    await waitUntil("it is settled", () => listStatuses(watch.rig, link.id).length === 2);
  });

  test("settle nothing while one of them is on its own fork", async () => {
    const watch = await startRigWithTwoProviders();
    const fork = watch.secondProvider.injectFault({
      kind: "forked",
      fromBlock: (await chain.readHeadNumber()) + 1,
    });
    const { link } = await payLink(watch.rig);
    await chain.mine(finalizedLag + 2);
    await waitUntil("the status reports that nothing settles", async () =>
      /nothing settles/.test((await watch.rig.readStatus()).reason ?? ""),
    );
    expect(listStatuses(watch.rig, link.id)).toEqual(["processing"]);
    fork.stop();
    await waitUntil("it is settled", () => listStatuses(watch.rig, link.id).length === 2);
  });

  test("must both show that an orphaned payment's day is over", async () => {
    const watch = await startRigWithTwoProviders();
    const { link } = await payLink(watch.rig);
    await chain.reorg(1);
    await advanceChainTime(2 * daySeconds);
    const outage = watch.secondProvider.injectFault({ kind: "down" });
    await chain.mine(finalizedLag + 2);
    await watch.rig.waitUntilScanned();
    expect(listStatuses(watch.rig, link.id)).toEqual(["processing"]);
    outage.stop();
    await waitUntil("it has failed", () => listStatuses(watch.rig, link.id).at(-1) === "failed");
  });
});
