import { beforeEach, expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { type Front, openFront } from "../../testing/bitcoin/open-front.ts";
import { purseAddress } from "../../testing/bitcoin/open-purse.ts";
import { type WatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import {
  type WatchedBitcoin,
  coin,
  openWatchedBitcoin,
  payeeOf,
} from "../../testing/open-watched-bitcoin.ts";
import { RpcError } from "../../testing/serve-json-rpc.ts";

const { describe, program } = await needingBtcd();

const finalDepthBlocks = 4;
/** Two blocks on top of their own, and five. */
const large = 5_000_000n;
const huge = coin;

const keep = closeAfterEach();
let chain: WatchedBitcoin;
let rig: WatchRig;
beforeEach(async () => {
  chain = keep(await openWatchedBitcoin(program));
});
const open = async (urls?: readonly string[]) => {
  rig = keep(await startWatchRig(chain, { finalDepthBlocks }, urls));
  await rig.caughtUp();
};

const statuses = (link: PaymentLinkState) =>
  rig.told(link.id).map(({ isOrphaned, status }) => (isOrphaned === true ? `${status} -` : status));
const last = (link: PaymentLinkState) => statuses(link).at(-1);
const idsOf = (link: PaymentLinkState) => new Set(rig.told(link.id).map(({ id }) => id));
const waitLast = (link: PaymentLinkState, status: string) =>
  waitUntil(`it is ${status}`, () => last(link) === status);
/** Waits until a payment is told with the block that holds it. */
const waitPlaced = (link: PaymentLinkState) =>
  waitUntil("it is in a block", () => typeof rig.told(link.id).at(-1)?.blockNumber === "number");

const orphanedAfterSettled = async (): Promise<number> => {
  const metrics = await rig.metrics.metrics();
  const counter = /payment_links_chain_orphaned_after_settled_total\{[^}]*\} (\d+)\n/;
  return Number(counter.exec(metrics)?.[1] ?? 0);
};

describe("a reorg of Bitcoin", () => {
  beforeEach(() => open());

  test.each([1, 2])("of depth %s moves a payment to another block", async (depth) => {
    const link = await rig.hearNew();
    const txid = await chain.pay(payeeOf(link, large));
    await chain.mine(depth);
    await rig.caughtUp();
    await waitPlaced(link);
    await chain.reorg(depth);
    await chain.mine(2);
    await waitLast(link, "settled");
    expect(idsOf(link).size).toBe(1);
    expect(rig.told(link.id).at(-1)).toMatchObject({ sourceTransaction: txid, amount: "0.05" });
  });

  test("while nobody watches moves a payment as well", async () => {
    const link = await rig.hearNew();
    await chain.pay(payeeOf(link, large));
    await chain.mine();
    await waitPlaced(link);
    await rig.service.stop();
    await chain.reorg(1);
    await chain.mine(3);
    await rig.service.start();
    await waitLast(link, "settled");
    expect(idsOf(link).size).toBe(1);
  });

  test("in which a payment's coins are spent elsewhere fails it once that is final and not before, and alerts nobody", async () => {
    const link = await rig.hearNew();
    const txid = await chain.pay(payeeOf(link, large));
    await chain.mine(2);
    await waitPlaced(link);
    await chain.reorg(2, { dropped: [txid] });
    await waitLast(link, "processing -");
    await chain.mine(finalDepthBlocks - 3);
    await rig.caughtUp();
    expect(last(link)).toBe("processing -");
    await chain.mine();
    await waitLast(link, "failed");
    expect(statuses(link)).not.toContain("settled");
    expect(await orphanedAfterSettled()).toBe(0);
  });

  test("that takes a settled payment away leaves its credit, flags it until it is back, and alerts", async () => {
    const link = await rig.hearNew();
    const txid = await chain.pay(payeeOf(link));
    await chain.mine();
    await waitLast(link, "settled");
    await chain.reorg(1, { dropped: [txid] });
    await waitLast(link, "settled -");
    await chain.mine(finalDepthBlocks + 1);
    await rig.caughtUp();
    expect(last(link)).toBe("settled -");
    expect(await orphanedAfterSettled()).toBe(1);
  });

  test("of a settled payment that is mined again flags it no more", async () => {
    const link = await rig.hearNew();
    await chain.pay(payeeOf(link));
    await chain.mine();
    await waitLast(link, "settled");
    await chain.reorg(1);
    await rig.caughtUp();
    await waitLast(link, "settled");
    expect(idsOf(link).size).toBe(1);
  });

  test("that reaches below a final block halts the chain", async () => {
    const link = await rig.hearNew();
    await chain.pay(payeeOf(link, large));
    await chain.mine(finalDepthBlocks + 3);
    await waitLast(link, "settled");
    await waitUntil("it is final", async () => {
      const { finalizedTo } = await rig.readStatus();
      return finalizedTo === (await chain.height()) - finalDepthBlocks;
    });
    await chain.reorg(finalDepthBlocks + 2);
    await waitUntil("it is halted", async () => (await rig.readStatus()).state === "halted");
    expect(last(link)).toBe("settled");
  });

  test("takes a coinbase away for good: it fails when another block of its height is final", async () => {
    // The rig's own coinbases pay the purse.
    const link = await rig.hearNew({ destinationAddress: purseAddress });
    await chain.mine();
    await rig.waitTold(link.id, 1);
    const mined = rig.told(link.id).at(-1);
    expect(mined).toMatchObject({ status: "processing", amount: "50" });
    await chain.reorg(1);
    await chain.mine(finalDepthBlocks);
    const ofMined = () => rig.told(link.id).filter(({ id }) => id === mined?.id);
    await waitUntil("it fails", () => ofMined().at(-1)?.status === "failed");
  });
});

describe("what was mined to a link's own address", () => {
  beforeEach(() => open());

  test("settles with the hundredth block on top of its own (rule CHAIN-4)", async () => {
    const link = await rig.hearNew({ destinationAddress: purseAddress });
    await chain.mine();
    await rig.waitTold(link.id, 1);
    const mined = rig.told(link.id).at(-1)?.id;
    const ofMined = () => rig.told(link.id).filter(({ id }) => id === mined);
    await chain.mine(99);
    await rig.caughtUp();
    expect(ofMined().at(-1)?.status).toBe("processing");
    await chain.mine();
    await waitUntil("it is settled", () => ofMined().at(-1)?.status === "settled");
  });
});

describe("of two nodes of Bitcoin", () => {
  let front: Front;
  beforeEach(async () => {
    front = keep(await openFront(chain));
    await open([chain.url, front.url]);
  });

  test("both must know a payment before it settles", async () => {
    const [link, sure] = [await rig.hearNew(), await rig.hearNew()];
    const txid = await chain.pay(payeeOf(link));
    front.forget([txid]);
    await chain.pay(payeeOf(sure));
    await chain.mine();
    await waitLast(sure, "settled");
    expect(last(link)).toBe("processing");
    front.beHonest();
    await waitLast(link, "settled");
  });

  test("one that is behind lets a payment be seen and settles nothing", async () => {
    const link = await rig.hearNew();
    const height = await chain.height();
    front.lie((method, [number], told) => {
      if (method === "getblockcount") return height;
      if (method !== "getblockhash" || Number(number) <= height) return told;
      throw new RpcError(-8, "Block height out of range");
    });
    await chain.pay(payeeOf(link));
    await chain.mine(3);
    await waitPlaced(link);
    await rig.caughtUp();
    expect(last(link)).toBe("processing");
    front.beHonest();
    await waitLast(link, "settled");
  });

  test("each counts the blocks that an amount asks for by itself", async () => {
    const link = await rig.hearNew();
    await chain.pay(payeeOf(link, huge));
    await chain.mine();
    const height = await chain.height();
    front.lie((method, [number], told) => {
      if (method === "getblockcount") return height + 4;
      if (method !== "getblockhash" || Number(number) <= height + 4) return told;
      throw new RpcError(-8, "Block height out of range");
    });
    await chain.mine(5);
    await rig.caughtUp();
    expect(last(link)).toBe("processing");
    front.beHonest();
    await waitLast(link, "settled");
  });
});
