import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { tronFromHex } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";
import { type TronChain, openTronChain } from "../../testing/tron/open-tron-chain.ts";

const finalizedLag = 8;
const daySeconds = 24 * 60 * 60;

let chain: TronChain;
beforeAll(async () => {
  chain = await openTronChain({ finalizedLag });
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

const open = async (
  node: Parameters<typeof openWatchRig>[0],
  override: Parameters<typeof openWatchRig>[1] = {},
  urls: readonly string[] = [node.url],
): Promise<WatchRig> => {
  const opened = await openWatchRig(node, { finality: "finalized", ...override }, urls);
  rig = opened;
  await opened.service.start();
  return opened;
};

/** A watch that has caught up, over two providers. */
const openTwo = async () => {
  rpcs.push(await openScriptedRpc({ target: chain.url }));
  rpcs.push(await openScriptedRpc({ target: chain.url }));
  const [first, second] = rpcs;
  if (first === undefined || second === undefined) throw new Error("there are two");
  const opened = await open(chain, {}, [first.url, second.url]);
  await opened.caughtUp();
  return { rig: opened, first, second };
};

const statusOf = (rig: WatchRig, linkId: string) =>
  rig
    .told(linkId)
    .map(({ status, isOrphaned }) => `${status}${isOrphaned === true ? " orphaned" : ""}`);

/** A link that is paid in the newest block, which has been told. */
const payLink = async (rig: WatchRig, payer: 0 | 1 | 2 = 0, node: TronChain = chain) => {
  const link = await rig.hearNew();
  await rig.caughtUp();
  const hash = await node.pay({ reference: link.paymentReference, to: owner, amount: 7n, payer });
  await node.mine();
  await waitUntil("it is seen", () => statusOf(rig, link.id).length === 1);
  await rig.caughtUp();
  return { link, hash };
};

/** The next block is so much later than the newest. */
const letTimePass = async (seconds: number): Promise<void> => {
  const { timestamp } = await chain.client.getBlock();
  await chain.setTime(Number(timestamp) + seconds);
  await chain.mine();
};

describe("the self-check at start", () => {
  const refusedWith = async (rig: WatchRig) =>
    await waitUntil("it is refused", async () => {
      const { reason, state } = await rig.readStatus();
      return state === "refused" && (reason ?? "");
    });

  test.each([
    ["decimals", { decimals: 7 }, "decimals are 6, not 7"],
    ["symbol", { symbol: "USDT" }, 'the symbol is "USDC", not USDT'],
    ["code", { address: tronFromHex(owner) }, `at ${tronFromHex(owner)}: there is no contract`],
  ])("a token whose %s is not the catalogue's stops the chain", async (_what, change, fault) => {
    const { catalogueData } = chain;
    const [usdc, ...others] = catalogueData.tokens;
    if (usdc === undefined) throw new Error("the catalogue has tokens");
    const tokens = [{ ...usdc, ...change }, ...others];
    const opened = await open({ ...chain, catalogueData: { ...catalogueData, tokens } });
    expect(await refusedWith(opened)).toContain(fault);
  });

  test("a fee proxy without code, and a node of another Tron, stop it too (rule CHAIN-9)", async () => {
    const { catalogueData } = chain;
    const [only] = catalogueData.chains;
    if (only?.feeProxies === undefined) throw new Error("the chain has a proxy");
    const proxies = { ...only.feeProxies, erc20: tronFromHex(owner) };
    const codeless = { ...catalogueData, chains: [{ ...only, feeProxies: proxies }] };
    const opened = await open({ ...chain, catalogueData: codeless });
    expect(await refusedWith(opened)).toContain(`fee proxy ${tronFromHex(owner)}`);
    await opened.close();
    const mainnet = { ...catalogueData, chains: [{ ...only, caip2: "tron:0x2b6653dc" }] };
    const other = await open({ ...chain, catalogueData: mainnet });
    expect(await refusedWith(other)).toContain("the node serves chain 1338");
  });
});

describe("what a fork takes away", () => {
  test("and another block holds again is one payment", async () => {
    const opened = await open(chain);
    const { hash, link } = await payLink(opened);
    const raw = await chain.rawOf(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => statusOf(opened, link.id).length === 2);
    expect(statusOf(opened, link.id)).toEqual(["processing", "settled"]);
  });

  test("has failed once a solid block is a day later than its own, and not before (rule CHAIN-5)", async () => {
    const opened = await open(chain);
    const first = await payLink(opened, 1);
    await chain.reorg(1);
    await letTimePass(2_000);
    const second = await payLink(opened, 2);
    await chain.reorg(1);
    // Another transaction of the same account proves nothing here: there are no nonces.
    await chain.pay({ reference: "ee".repeat(16), to: owner, amount: 1n, payer: 2 });
    await letTimePass(daySeconds - 1_000);
    await chain.mine(finalizedLag);
    // They are judged together.
    await waitUntil("one has failed", () => statusOf(opened, first.link.id).at(-1) === "failed");
    expect(statusOf(opened, second.link.id)).toEqual(["processing"]);
    await letTimePass(2_000);
    await chain.mine(finalizedLag);
    await waitUntil("it has failed", () => statusOf(opened, second.link.id).at(-1) === "failed");
  });

  test("is settled after all where it is mined again within the day", async () => {
    const opened = await open(chain);
    const { hash, link } = await payLink(opened);
    const raw = await chain.rawOf(hash);
    await chain.reorg(1);
    await letTimePass(daySeconds - 600);
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => statusOf(opened, link.id).at(-1) === "settled");
    expect(statusOf(opened, link.id)).toEqual(["processing", "settled"]);
  });

  test("after it settled by fewer blocks keeps its credit, is flagged, and comes back", async () => {
    const opened = await open(chain, { finality: { blocks: 1 } });
    const { hash, link } = await payLink(opened);
    await chain.mine(2);
    await waitUntil("it is settled", () => statusOf(opened, link.id).at(-1) === "settled");
    await opened.caughtUp();
    const raw = await chain.rawOf(hash);
    await chain.reorg(4);
    await waitUntil("it is flagged", () => statusOf(opened, link.id).at(-1) === "settled orphaned");
    await chain.ask("eth_sendRawTransaction", [raw]);
    await chain.mine(2);
    await waitUntil("it is back", () => statusOf(opened, link.id).at(-1) === "settled");
  });

  test("below a solid block halts the chain, and nothing of it changes", async () => {
    const other = await openTronChain({ finalizedLag: 2 });
    try {
      await other.mine(20);
      const opened = await open(other);
      const { link } = await payLink(opened, 0, other);
      await other.mine(4);
      await waitUntil("it is settled", () => statusOf(opened, link.id).at(-1) === "settled");
      await opened.caughtUp();
      await other.reorg(10);
      await waitUntil("it is halted", async () => (await opened.readStatus()).state === "halted");
      expect(statusOf(opened, link.id)).toEqual(["processing", "settled"]);
    } finally {
      await other.close();
    }
  });
});

describe("of two providers", () => {
  test("one that is away: a payment is seen and settles once both say so", async () => {
    const two = await openTwo();
    const outage = two.second.play({ kind: "down" });
    const { link } = await payLink(two.rig);
    await chain.mine(finalizedLag + 2);
    await two.rig.caughtUp();
    expect(statusOf(two.rig, link.id)).toEqual(["processing"]);
    outage.stop();
    await waitUntil("it is settled", () => statusOf(two.rig, link.id).length === 2);
  });

  test("one on a fork of its own: nothing settles until it has come back", async () => {
    const two = await openTwo();
    const fork = two.second.play({ kind: "forked", fromBlock: (await chain.headNumber()) + 1 });
    const { link } = await payLink(two.rig);
    await chain.mine(finalizedLag + 2);
    await waitUntil("it is told", async () =>
      /nothing settles/.test((await two.rig.readStatus()).reason ?? ""),
    );
    expect(statusOf(two.rig, link.id)).toEqual(["processing"]);
    fork.stop();
    await waitUntil("it is settled", () => statusOf(two.rig, link.id).length === 2);
  });

  test("two must say that a lost payment's day is over", async () => {
    const two = await openTwo();
    const { link } = await payLink(two.rig);
    await chain.reorg(1);
    await letTimePass(2 * daySeconds);
    const outage = two.second.play({ kind: "down" });
    await chain.mine(finalizedLag + 2);
    await two.rig.caughtUp();
    expect(statusOf(two.rig, link.id)).toEqual(["processing"]);
    outage.stop();
    await waitUntil("it has failed", () => statusOf(two.rig, link.id).at(-1) === "failed");
  });
});
