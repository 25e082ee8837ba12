import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, startWatchRig } from "../testing/create-watch-rig.ts";
import { owner } from "../testing/samples.ts";
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

const closeAfterTest = closeAfterEach();

const startRig = async (
  node: Parameters<typeof startWatchRig>[0] = chain,
  urls: readonly string[] = [node.url],
) => closeAfterTest(await startWatchRig(node, { finality: "finalized" }, urls));

const listStatuses = (rig: WatchRig, linkId: string) =>
  rig.publishedPayments(linkId).map(({ status }) => status);

/** Pays a link in the newest block and waits until the payment is published. */
const payLink = async (rig: WatchRig, payer: 0 | 1 | 2 = 0) => {
  const link = await rig.receiveNewLink();
  await rig.waitUntilScanned();
  const hash = await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n, payer });
  await chain.mine();
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
    const mainnetData = { ...catalogueData, chains: [{ ...localChain, caip2: "tron:0x2b6653dc" }] };
    const otherRig = await startRig({ ...chain, catalogueData: mainnetData });
    expect(await waitForRejection(otherRig)).toContain("the node serves chain 1338");
  });
});

describe("a payment that a fork orphans", () => {
  test("fails once a solid block is a day later than its own, and not before (rule CHAIN-5)", async () => {
    const watchRig = await startRig();
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
    const watchRig = await startRig();
    const { hash, link } = await payLink(watchRig);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await advanceChainTime(daySeconds - 600);
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    await chain.mine(finalizedLag + 1);
    await waitUntil("it is settled", () => listStatuses(watchRig, link.id).at(-1) === "settled");
    expect(listStatuses(watchRig, link.id)).toEqual(["processing", "settled"]);
  });
});

test("two providers must both show that an orphaned payment's day is over", async () => {
  const startProvider = async () => closeAfterTest(await startScriptedRpc({ target: chain.url }));
  const [firstProvider, secondProvider] = [await startProvider(), await startProvider()];
  const watchRig = await startRig(chain, [firstProvider.url, secondProvider.url]);
  const { link } = await payLink(watchRig);
  await chain.reorg(1);
  await advanceChainTime(2 * daySeconds);
  const outage = secondProvider.injectFault({ kind: "down" });
  await chain.mine(finalizedLag + 2);
  await watchRig.waitUntilScanned();
  expect(listStatuses(watchRig, link.id)).toEqual(["processing"]);
  outage.stop();
  await waitUntil("it has failed", () => listStatuses(watchRig, link.id).at(-1) === "failed");
});
