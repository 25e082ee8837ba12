import { beforeEach, expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import {
  type NodeProxy,
  startNodeProxy,
} from "@payment-links/local-chains/bitcoin/start-node-proxy";
import { walletAddress } from "@payment-links/local-chains/bitcoin/wallet";
import { type WatchRig, startWatchRig } from "../testing/create-watch-rig.ts";
import {
  type WatchedBitcoin,
  satoshisPerBitcoin,
  startWatchedBitcoin,
  toPayee,
} from "../testing/start-watched-bitcoin.ts";
import { RpcError } from "@payment-links/local-chains/serve-json-rpc";

const { describe, program } = await requireBtcd();

const finalDepthBlocks = 4;
/** Amounts that need two and five more blocks on top of their own block. */
const largeAmount = 5_000_000n;
const hugeAmount = satoshisPerBitcoin;

const closeAfterTest = closeAfterEach();
let chain: WatchedBitcoin;
let rig: WatchRig;
beforeEach(async () => {
  chain = closeAfterTest(await startWatchedBitcoin(program));
});
const startRig = async (urls?: readonly string[]) => {
  rig = closeAfterTest(await startWatchRig(chain, { finalDepthBlocks }, urls));
  await rig.waitUntilScanned();
};

const listStatuses = (link: PaymentLinkState) =>
  rig
    .publishedPayments(link.id)
    .map(({ isOrphaned, status }) => (isOrphaned === true ? `${status} -` : status));
const lastStatus = (link: PaymentLinkState) => listStatuses(link).at(-1);
const listPaymentIds = (link: PaymentLinkState) =>
  new Set(rig.publishedPayments(link.id).map(({ id }) => id));
const waitForLastStatus = (link: PaymentLinkState, status: string) =>
  waitUntil(`it is ${status}`, () => lastStatus(link) === status);
/** Waits until a payment is published with the block that contains it. */
const waitUntilInBlock = (link: PaymentLinkState) =>
  waitUntil(
    "it is in a block",
    () => typeof rig.publishedPayments(link.id).at(-1)?.blockNumber === "number",
  );

const readOrphanedAfterSettledCount = async (): Promise<number> => {
  const metrics = await rig.metrics.metrics();
  const counter = /payment_links_chain_orphaned_after_settled_total\{[^}]*\} (\d+)\n/;
  return Number(counter.exec(metrics)?.[1] ?? 0);
};

describe("a Bitcoin reorg", () => {
  beforeEach(() => startRig());

  test.each([1, 2])("of depth %s moves a payment to another block", async (depth) => {
    const link = await rig.receiveNewLink();
    const txid = await chain.pay(toPayee(link, largeAmount));
    await chain.mine(depth);
    await rig.waitUntilScanned();
    await waitUntilInBlock(link);
    await chain.reorg(depth);
    await chain.mine(2);
    await waitForLastStatus(link, "settled");
    expect(listPaymentIds(link).size).toBe(1);
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      sourceTransaction: txid,
      amount: "0.05",
    });
  });

  test("moves a payment to another block while the service is stopped", async () => {
    const link = await rig.receiveNewLink();
    await chain.pay(toPayee(link, largeAmount));
    await chain.mine();
    await waitUntilInBlock(link);
    await rig.service.stop();
    await chain.reorg(1);
    await chain.mine(3);
    await rig.service.start();
    await waitForLastStatus(link, "settled");
    expect(listPaymentIds(link).size).toBe(1);
  });

  test("fails a payment whose coins are spent elsewhere only once that is final, and raises no alert", async () => {
    const link = await rig.receiveNewLink();
    const txid = await chain.pay(toPayee(link, largeAmount));
    await chain.mine(2);
    await waitUntilInBlock(link);
    await chain.reorg(2, { dropped: [txid] });
    await waitForLastStatus(link, "processing -");
    await chain.mine(finalDepthBlocks - 3);
    await rig.waitUntilScanned();
    expect(lastStatus(link)).toBe("processing -");
    await chain.mine();
    await waitForLastStatus(link, "failed");
    expect(listStatuses(link)).not.toContain("settled");
    expect(await readOrphanedAfterSettledCount()).toBe(0);
  });

  test("keeps the credit of a settled payment that it orphans, flags the payment, and raises an alert", async () => {
    const link = await rig.receiveNewLink();
    const txid = await chain.pay(toPayee(link));
    await chain.mine();
    await waitForLastStatus(link, "settled");
    await chain.reorg(1, { dropped: [txid] });
    await waitForLastStatus(link, "settled -");
    await chain.mine(finalDepthBlocks + 1);
    await rig.waitUntilScanned();
    expect(lastStatus(link)).toBe("settled -");
    expect(await readOrphanedAfterSettledCount()).toBe(1);
  });

  test("clears the flag of a settled payment that is mined again", async () => {
    const link = await rig.receiveNewLink();
    await chain.pay(toPayee(link));
    await chain.mine();
    await waitForLastStatus(link, "settled");
    await chain.reorg(1);
    await rig.waitUntilScanned();
    await waitForLastStatus(link, "settled");
    expect(listPaymentIds(link).size).toBe(1);
  });

  test("halts the chain if it reaches below a final block", async () => {
    const link = await rig.receiveNewLink();
    await chain.pay(toPayee(link, largeAmount));
    await chain.mine(finalDepthBlocks + 3);
    await waitForLastStatus(link, "settled");
    await waitUntil("it is final", async () => {
      const { finalizedTo } = await rig.readStatus();
      return finalizedTo === (await chain.readHeight()) - finalDepthBlocks;
    });
    await chain.reorg(finalDepthBlocks + 2);
    await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
    expect(lastStatus(link)).toBe("settled");
  });

  test("fails an orphaned coinbase once another block at its height is final", async () => {
    // The local chain's coinbase transactions pay the test wallet.
    const link = await rig.receiveNewLink({ destinationAddress: walletAddress });
    await chain.mine();
    await rig.waitForPublished(link.id, 1);
    const minedPayment = rig.publishedPayments(link.id).at(-1);
    expect(minedPayment).toMatchObject({ status: "processing", amount: "50" });
    await chain.reorg(1);
    await chain.mine(finalDepthBlocks);
    const listMinedPayments = () =>
      rig.publishedPayments(link.id).filter(({ id }) => id === minedPayment?.id);
    await waitUntil("it fails", () => listMinedPayments().at(-1)?.status === "failed");
  });
});

describe("a coinbase that pays a link's address", () => {
  beforeEach(() => startRig());

  test("settles with the 100th block on top of its own (rule CHAIN-4)", async () => {
    const link = await rig.receiveNewLink({ destinationAddress: walletAddress });
    await chain.mine();
    await rig.waitForPublished(link.id, 1);
    const minedPaymentId = rig.publishedPayments(link.id).at(-1)?.id;
    const listMinedPayments = () =>
      rig.publishedPayments(link.id).filter(({ id }) => id === minedPaymentId);
    await chain.mine(99);
    await rig.waitUntilScanned();
    expect(listMinedPayments().at(-1)?.status).toBe("processing");
    await chain.mine();
    await waitUntil("it is settled", () => listMinedPayments().at(-1)?.status === "settled");
  });
});

describe("two Bitcoin nodes", () => {
  let proxy: NodeProxy;
  beforeEach(async () => {
    proxy = closeAfterTest(await startNodeProxy(chain));
    await startRig([chain.url, proxy.url]);
  });

  test("must both know a payment before it settles", async () => {
    const [link, knownLink] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
    const txid = await chain.pay(toPayee(link));
    proxy.hideTransactions([txid]);
    await chain.pay(toPayee(knownLink));
    await chain.mine();
    await waitForLastStatus(knownLink, "settled");
    expect(lastStatus(link)).toBe("processing");
    proxy.clearFaults();
    await waitForLastStatus(link, "settled");
  });

  test("report a payment but settle nothing while one of them lags", async () => {
    const link = await rig.receiveNewLink();
    const height = await chain.readHeight();
    proxy.misreport((method, [blockNumber], result) => {
      if (method === "getblockcount") return height;
      if (method !== "getblockhash" || Number(blockNumber) <= height) return result;
      throw new RpcError(-8, "Block height out of range");
    });
    await chain.pay(toPayee(link));
    await chain.mine(3);
    await waitUntilInBlock(link);
    await rig.waitUntilScanned();
    expect(lastStatus(link)).toBe("processing");
    proxy.clearFaults();
    await waitForLastStatus(link, "settled");
  });

  test("must each have the confirmations that an amount requires", async () => {
    const link = await rig.receiveNewLink();
    await chain.pay(toPayee(link, hugeAmount));
    await chain.mine();
    const height = await chain.readHeight();
    proxy.misreport((method, [blockNumber], result) => {
      if (method === "getblockcount") return height + 4;
      if (method !== "getblockhash" || Number(blockNumber) <= height + 4) return result;
      throw new RpcError(-8, "Block height out of range");
    });
    await chain.mine(5);
    await rig.waitUntilScanned();
    expect(lastStatus(link)).toBe("processing");
    proxy.clearFaults();
    await waitForLastStatus(link, "settled");
  });
});
