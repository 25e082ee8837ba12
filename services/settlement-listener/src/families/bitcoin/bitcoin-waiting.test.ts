import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "../../testing/bitcoin/fresh-address.ts";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { type Front, openFront } from "../../testing/bitcoin/open-front.ts";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import { openWatchedBitcoin, payeeOf } from "../../testing/open-watched-bitcoin.ts";
import { RpcError } from "../../testing/serve-json-rpc.ts";

const { describe, program } = await needingBtcd();

const finalDepthBlocks = 4;
/** Large enough to need two blocks on top of its own. */
const large = 5_000_000n;

describe("a payment that waits for a block (rule CHAIN-24)", () => {
  const chain = useRig(() => openWatchedBitcoin(program));
  let front: Front;
  const rig = useRigEach(async (keep) => {
    front = keep(await openFront(chain));
    return startWatchRig(chain, { finalDepthBlocks }, [front.url]);
  });

  /** How the payments of a transaction were told, in short. */
  const story = (link: PaymentLinkState, txid: string) =>
    rig
      .told(link.id)
      .filter(({ sourceTransaction }) => sourceTransaction === txid)
      .map(({ blockNumber, isOrphaned, status }) => {
        if (status !== "processing") return status;
        if (isOrphaned === true) return "taken back";
        return typeof blockNumber === "number" ? "in a block" : "waits";
      });
  const waitStory = (link: PaymentLinkState, txid: string, last: string) =>
    waitUntil(`it ${last}`, () => story(link, txid).at(-1) === last);

  test("is processing, then told with its block, and settles by its depth", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link, large));
    await waitStory(link, txid, "waits");
    expect(rig.told(link.id)).toMatchObject([{ version: 1, blockNumber: null, amount: "0.05" }]);
    await chain.mine();
    await waitStory(link, txid, "in a block");
    expect(rig.told(link.id).at(-1)).toMatchObject({
      version: 2,
      blockNumber: await chain.height(),
    });
    await chain.mine(2);
    await waitStory(link, txid, "settled");
    expect(story(link, txid)).toEqual(["waits", "in a block", "settled"]);
    expect(new Set(rig.told(link.id).map(({ id }) => id)).size).toBe(1);
  });

  test("is taken back once another was sent in its stead, which is a payment itself; it fails when that is final", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const first = await chain.pay(payeeOf(link));
    await waitStory(link, first, "waits");
    const second = await chain.replace(first);
    await waitStory(link, first, "taken back");
    await waitStory(link, second, "waits");
    await chain.mine();
    await waitStory(link, second, "settled");
    await chain.mine(finalDepthBlocks - 1);
    await rig.caughtUp();
    expect(story(link, first)).toEqual(["waits", "taken back"]);
    await chain.mine();
    await waitStory(link, first, "failed");
    expect(story(link, second)).toEqual(["waits", "settled"]);
  });

  test("is taken back where its coins are spent elsewhere, and fails when that is final (rule CHAIN-5)", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link));
    await waitStory(link, txid, "waits");
    await chain.doubleSpend(txid);
    await waitStory(link, txid, "taken back");
    await chain.mine(1 + finalDepthBlocks);
    await waitStory(link, txid, "failed");
    expect(story(link, txid)).toEqual(["waits", "taken back", "failed"]);
  });

  // Guards against a payment that stays processing for ever, as nobody ever mines what it spends.
  test.each([1, 2])(
    "is taken back where a transaction %s before its own is spent elsewhere, and fails when that is final, though another process has seen it",
    async (generations) => {
      const link = await rig.hearNew();
      await rig.caughtUp();
      const first = await chain.pay({ to: freshBitcoinAddress(), amount: 2_000n });
      let before = first;
      for (let made = 1; made < generations; made += 1) {
        before = await chain.payOutOf(before, { to: freshBitcoinAddress(), amount: 2_000n });
      }
      const txid = await chain.payOutOf(before, payeeOf(link));
      await waitStory(link, txid, "waits");
      await chain.doubleSpend(first);
      await waitStory(link, txid, "taken back");
      await rig.service.stop();
      await rig.service.start();
      await chain.mine();
      await rig.caughtUp();
      expect(story(link, txid)).toEqual(["waits", "taken back"]);
      await chain.mine(finalDepthBlocks);
      await waitStory(link, txid, "failed");
    },
  );

  test("is taken back and fails where a fork takes away what it spends, which a block had held", async () => {
    const link = await rig.hearNew();
    const before = await chain.pay({ to: freshBitcoinAddress(), amount: 2_000n });
    await chain.mine();
    await rig.caughtUp();
    const txid = await chain.payOutOf(before, payeeOf(link));
    await waitStory(link, txid, "waits");
    await chain.reorg(1, { dropped: [before] });
    await waitStory(link, txid, "taken back");
    await chain.mine(finalDepthBlocks);
    await waitStory(link, txid, "failed");
  });

  test("is shown again where a node knows it again", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link));
    await waitStory(link, txid, "waits");
    front.forget([txid]);
    await waitStory(link, txid, "taken back");
    front.beHonest();
    await waitStory(link, txid, "waits");
    await chain.mine();
    await waitStory(link, txid, "settled");
    expect(story(link, txid)).toEqual(["waits", "taken back", "waits", "settled"]);
  });

  test("is taken back where a fork spends its coins elsewhere, though the node still has it of the block that lost", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link, large));
    await chain.mine();
    await waitStory(link, txid, "in a block");
    await front.keepMined(txid);
    await chain.reorg(1, { dropped: [txid] });
    await waitStory(link, txid, "taken back");
    const seen = await rig.hearNew();
    await chain.pay(payeeOf(seen));
    await waitUntil("the mempool is read again", () => rig.told(seen.id).length > 0);
    expect(story(link, txid).at(-1)).toBe("taken back");
    await chain.mine(finalDepthBlocks);
    await waitStory(link, txid, "failed");
  });

  test("is shown even if its link arrives after the transaction was read", async () => {
    const known = await rig.hearNew();
    const late = [rig.sampleLink(), rig.sampleLink()] as const;
    await rig.caughtUp();
    const alone = await chain.pay(payeeOf(late[0]));
    const together = await chain.payTogether([payeeOf(known), payeeOf(late[1])]);
    // The listener reads this transaction together with the one before it, or after it.
    await waitStory(known, together, "waits");
    await rig.hear(...late);
    await waitStory(late[0], alone, "waits");
    await waitStory(late[1], together, "waits");
    expect(story(known, together)).toEqual(["waits"]);
    await chain.mine();
    for (const link of [known, ...late]) await rig.waitStatus(link.id, "settled");
  });

  test("is told once, also by a process that begins anew", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link));
    await waitStory(link, txid, "waits");
    await rig.service.stop();
    await rig.service.start();
    const last = await rig.hearNew();
    const lastTxid = await chain.pay(payeeOf(last));
    await waitStory(last, lastTxid, "waits");
    await chain.mine();
    await waitStory(link, txid, "settled");
    expect(story(link, txid)).toEqual(["waits", "settled"]);
  });

  test("is taken back by a reorg, told with its new block, and stays one payment", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    const txid = await chain.pay(payeeOf(link, large));
    await waitStory(link, txid, "waits");
    await chain.mine();
    await waitStory(link, txid, "in a block");
    await chain.reorg(1);
    await waitUntil("it is in a block again", () => {
      const told = story(link, txid);
      return told[2] === "taken back" && told.at(-1) === "in a block";
    });
    await chain.mine();
    await waitStory(link, txid, "settled");
    expect(new Set(rig.told(link.id).map(({ id }) => id)).size).toBe(1);
  });
});

describe("a payment that waits for a block on a chain with two nodes", () => {
  const chain = useRig(() => openWatchedBitcoin(program));
  let second: Front;
  const rig = useRigEach(async (keep) => {
    const first = keep(await openFront(chain));
    second = keep(await openFront(chain));
    return startWatchRig(chain, { finalDepthBlocks }, [first.url, second.url]);
  });
  const WitnessRow = z.object({ witnessedAt: z.date().nullable() });
  const witnessOf = (txid: string): Promise<Date | null> =>
    rig.pool.oneFirst(sql.type(WitnessRow)`
      SELECT witnessed_at AS "witnessedAt" FROM payments WHERE source_transaction = ${txid}
    `);

  test("is in time from when both know it, not from when one does (rule STATE-15)", async () => {
    const link = await rig.hearNew();
    await rig.caughtUp();
    let hiddenCount = 0;
    second.lie((method, _params, told) => {
      const isWaiting =
        method === "getrawtransaction" && !JSON.stringify(told).includes("blockhash");
      if (!isWaiting) return told;
      hiddenCount += 1;
      throw new RpcError(-5, "No such mempool or blockchain transaction");
    });
    const txid = await chain.pay(payeeOf(link));
    await rig.waitTold(link.id, 1);
    await waitUntil("the second node was asked", () => hiddenCount > 0);
    expect(await witnessOf(txid)).toBeNull();
    const knownFrom = Date.now();
    second.beHonest();
    await waitUntil("both know it", async () => (await witnessOf(txid)) !== null);
    const witnessedAt = await witnessOf(txid);
    expect(witnessedAt?.getTime()).toBeGreaterThanOrEqual(knownFrom);
    await chain.mine();
    await rig.waitStatus(link.id, "settled");
    expect(rig.told(link.id).at(-1)).toMatchObject({ witnessedAt: witnessedAt?.toISOString() });
  });
});
