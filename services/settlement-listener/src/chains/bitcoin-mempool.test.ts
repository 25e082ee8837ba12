import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import {
  type NodeProxy,
  startNodeProxy,
} from "@payment-links/local-chains/bitcoin/start-node-proxy";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import { startWatchedBitcoin, toPayee } from "../testing/start-watched-bitcoin.ts";
import { RpcError } from "@payment-links/local-chains/serve-json-rpc";

const { describe, program } = await requireBtcd();

const finalDepthBlocks = 4;
/** An amount that needs two more blocks on top of its own block. */
const largeAmount = 5_000_000n;

describe("an unconfirmed Bitcoin payment (rule CHAIN-24)", () => {
  const chain = useRig(() => startWatchedBitcoin(program));
  let proxy: NodeProxy;
  const rig = useRigEach(async (closeAfterTest) => {
    proxy = closeAfterTest(await startNodeProxy(chain));
    return startWatchRig(chain, { finalDepthBlocks }, [proxy.url]);
  });

  /** Returns a one-line summary of each event published for a transaction's payments. */
  const listStates = (link: PaymentLinkState, txid: string) =>
    rig
      .publishedPayments(link.id)
      .filter(({ sourceTransaction }) => sourceTransaction === txid)
      .map(({ blockNumber, isOrphaned, status }) => {
        if (status !== "processing") return status;
        if (isOrphaned === true) return "dropped";
        return typeof blockNumber === "number" ? "in a block" : "waits";
      });
  const waitForState = (link: PaymentLinkState, txid: string, state: string) =>
    waitUntil(`it ${state}`, () => listStates(link, txid).at(-1) === state);

  test("is processing, is published again with its block, and settles at its depth", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link, largeAmount));
    await waitForState(link, txid, "waits");
    expect(rig.publishedPayments(link.id)).toMatchObject([
      { version: 1, blockNumber: null, amount: "0.05" },
    ]);
    await chain.mine();
    await waitForState(link, txid, "in a block");
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      version: 2,
      blockNumber: await chain.readHeight(),
    });
    await chain.mine(2);
    await waitForState(link, txid, "settled");
    expect(listStates(link, txid)).toEqual(["waits", "in a block", "settled"]);
    expect(new Set(rig.publishedPayments(link.id).map(({ id }) => id)).size).toBe(1);
  });

  test("is marked as dropped when a replacement pays instead, and fails once the replacement is final", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const originalTxid = await chain.pay(toPayee(link));
    await waitForState(link, originalTxid, "waits");
    const replacementTxid = await chain.replace(originalTxid);
    await waitForState(link, originalTxid, "dropped");
    await waitForState(link, replacementTxid, "waits");
    await chain.mine();
    await waitForState(link, replacementTxid, "settled");
    await chain.mine(finalDepthBlocks - 1);
    await rig.waitUntilScanned();
    expect(listStates(link, originalTxid)).toEqual(["waits", "dropped"]);
    await chain.mine();
    await waitForState(link, originalTxid, "failed");
    expect(listStates(link, replacementTxid)).toEqual(["waits", "settled"]);
  });

  test("is marked as dropped when its coins are spent elsewhere, and fails once that is final (rule CHAIN-5)", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link));
    await waitForState(link, txid, "waits");
    await chain.doubleSpend(txid);
    await waitForState(link, txid, "dropped");
    await chain.mine(1 + finalDepthBlocks);
    await waitForState(link, txid, "failed");
    expect(listStates(link, txid)).toEqual(["waits", "dropped", "failed"]);
  });

  // Guards against a payment that stays `processing` forever although its inputs can never be
  // mined.
  test.each([1, 2])(
    "is marked as dropped when its ancestor %s generations back is double-spent, and fails once that is final, even after a restart",
    async (generations) => {
      const link = await rig.receiveNewLink();
      await rig.waitUntilScanned();
      const originalTxid = await chain.pay({ to: freshBitcoinAddress(), amount: 2_000n });
      let parentTxid = originalTxid;
      for (let generation = 1; generation < generations; generation += 1) {
        parentTxid = await chain.payFromChange(parentTxid, {
          to: freshBitcoinAddress(),
          amount: 2_000n,
        });
      }
      const txid = await chain.payFromChange(parentTxid, toPayee(link));
      await waitForState(link, txid, "waits");
      await chain.doubleSpend(originalTxid);
      await waitForState(link, txid, "dropped");
      await rig.service.stop();
      await rig.service.start();
      await chain.mine();
      await rig.waitUntilScanned();
      expect(listStates(link, txid)).toEqual(["waits", "dropped"]);
      await chain.mine(finalDepthBlocks);
      await waitForState(link, txid, "failed");
    },
  );

  test("is marked as dropped and fails when a reorg double-spends its mined ancestor", async () => {
    const link = await rig.receiveNewLink();
    const parentTxid = await chain.pay({ to: freshBitcoinAddress(), amount: 2_000n });
    await chain.mine();
    await rig.waitUntilScanned();
    const txid = await chain.payFromChange(parentTxid, toPayee(link));
    await waitForState(link, txid, "waits");
    await chain.reorg(1, { dropped: [parentTxid] });
    await waitForState(link, txid, "dropped");
    await chain.mine(finalDepthBlocks);
    await waitForState(link, txid, "failed");
  });

  test("is reported again when a node knows it again", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link));
    await waitForState(link, txid, "waits");
    proxy.hideTransactions([txid]);
    await waitForState(link, txid, "dropped");
    proxy.clearFaults();
    await waitForState(link, txid, "waits");
    await chain.mine();
    await waitForState(link, txid, "settled");
    expect(listStates(link, txid)).toEqual(["waits", "dropped", "waits", "settled"]);
  });

  test("is marked as dropped when a reorg double-spends it, even if the node still has it from the orphaned block", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link, largeAmount));
    await chain.mine();
    await waitForState(link, txid, "in a block");
    await proxy.keepOrphaned(txid);
    await chain.reorg(1, { dropped: [txid] });
    await waitForState(link, txid, "dropped");
    const laterLink = await rig.receiveNewLink();
    await chain.pay(toPayee(laterLink));
    await waitUntil(
      "the mempool is read again",
      () => rig.publishedPayments(laterLink.id).length > 0,
    );
    expect(listStates(link, txid).at(-1)).toBe("dropped");
    await chain.mine(finalDepthBlocks);
    await waitForState(link, txid, "failed");
  });

  test("is reported even if its link arrives after the transaction was read", async () => {
    const knownLink = await rig.receiveNewLink();
    const lateLinks = [rig.sampleLink(), rig.sampleLink()] as const;
    await rig.waitUntilScanned();
    const aloneTxid = await chain.pay(toPayee(lateLinks[0]));
    const togetherTxid = await chain.payInOneTransaction([
      toPayee(knownLink),
      toPayee(lateLinks[1]),
    ]);
    // The listener may read this transaction in the same batch as the previous one, or in a later
    // one.
    await waitForState(knownLink, togetherTxid, "waits");
    await rig.receiveLinks(...lateLinks);
    await waitForState(lateLinks[0], aloneTxid, "waits");
    await waitForState(lateLinks[1], togetherTxid, "waits");
    expect(listStates(knownLink, togetherTxid)).toEqual(["waits"]);
    await chain.mine();
    for (const link of [knownLink, ...lateLinks]) await rig.waitForStatus(link.id, "settled");
  });

  test("is published only once, even after a restart", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link));
    await waitForState(link, txid, "waits");
    await rig.service.stop();
    await rig.service.start();
    const lastLink = await rig.receiveNewLink();
    const lastTxid = await chain.pay(toPayee(lastLink));
    await waitForState(lastLink, lastTxid, "waits");
    await chain.mine();
    await waitForState(link, txid, "settled");
    expect(listStates(link, txid)).toEqual(["waits", "settled"]);
  });

  /** Makes the node's responses for one transaction invalid. Returns how often they were. */
  const makeInvalid = (invalidTxid: string, toInvalid: (result: unknown) => unknown) => {
    let invalidCount = 0;
    proxy.misreport((method, params, result) => {
      if (method !== "getrawtransaction" || params[0] !== invalidTxid) return result;
      invalidCount += 1;
      return toInvalid(result);
    });
    return () => invalidCount;
  };

  const changeHex = (result: unknown): unknown =>
    typeof result === "string"
      ? `${result.slice(0, -8)}ffffffff`
      : { ...(result as object), hex: "00" };

  test.each([
    ["has another shape", () => ({})],
    ["is another transaction", changeHex],
    ["is not hex", () => "not hex"],
    [
      "is invalid only with its block",
      (result: unknown) => (typeof result === "string" ? result : {}),
    ],
  ])(
    "is reported although the response for another transaction %s, which is reported once it is valid (rule CHAIN-32)",
    async (_, toInvalid) => {
      const [invalidLink, link] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
      await rig.waitUntilScanned();
      const readers = proxy.getRequestCount("getrawmempool");
      // The listener can see the first transaction before its response becomes invalid.
      proxy.misreport((method, _params, result) => (method === "getrawmempool" ? [] : result));
      await waitUntil(
        "the empty list is read",
        () => proxy.getRequestCount("getrawmempool") > readers + 1,
      );
      const invalidTxid = await chain.pay(toPayee(invalidLink));
      const getInvalidCount = makeInvalid(invalidTxid, toInvalid);
      await waitUntil("the invalid response was read", () => getInvalidCount() > 0);
      const txid = await chain.pay(toPayee(link));
      await waitForState(link, txid, "waits");
      expect(listStates(invalidLink, invalidTxid)).toEqual([]);
      const metricsText = await rig.metrics.metrics();
      expect(metricsText).toMatch(/rpc_disagreements_total\{[^}]*kind="invalid_item"[^}]*\} [1-9]/);
      expect(metricsText).toMatch(/chain_waiting_unread\{[^}]*\} 1\n/);
      proxy.clearFaults();
      await waitForState(invalidLink, invalidTxid, "waits");
      await chain.mine();
      await waitForState(link, txid, "settled");
      await waitForState(invalidLink, invalidTxid, "settled");
    },
  );

  test("is not marked as dropped while the response for it is invalid, and others are reported (rule CHAIN-32)", async () => {
    const [invalidLink, link] = [await rig.receiveNewLink(), await rig.receiveNewLink()];
    await rig.waitUntilScanned();
    const invalidTxid = await chain.pay(toPayee(invalidLink));
    await waitForState(invalidLink, invalidTxid, "waits");
    const getInvalidCount = makeInvalid(invalidTxid, () => ({ hex: 7 }));
    await waitUntil("the invalid response was read", () => getInvalidCount() > 1);
    const txid = await chain.pay(toPayee(link));
    await waitForState(link, txid, "waits");
    await chain.doubleSpend(txid);
    await waitForState(link, txid, "dropped");
    expect(listStates(invalidLink, invalidTxid)).toEqual(["waits"]);
    proxy.clearFaults();
    await chain.mine();
    await waitForState(invalidLink, invalidTxid, "settled");
    expect(listStates(invalidLink, invalidTxid)).toEqual(["waits", "settled"]);
  });

  test("is marked as orphaned by a reorg, is published with its new block, and stays one payment", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const txid = await chain.pay(toPayee(link, largeAmount));
    await waitForState(link, txid, "waits");
    await chain.mine();
    await waitForState(link, txid, "in a block");
    await chain.reorg(1);
    await waitUntil("the payment is in a block again", () => {
      const states = listStates(link, txid);
      return states[2] === "dropped" && states.at(-1) === "in a block";
    });
    await chain.mine();
    await waitForState(link, txid, "settled");
    expect(new Set(rig.publishedPayments(link.id).map(({ id }) => id)).size).toBe(1);
  });
});

describe("an unconfirmed Bitcoin payment with two nodes", () => {
  const chain = useRig(() => startWatchedBitcoin(program));
  let secondProxy: NodeProxy;
  const rig = useRigEach(async (closeAfterTest) => {
    const firstProxy = closeAfterTest(await startNodeProxy(chain));
    secondProxy = closeAfterTest(await startNodeProxy(chain));
    return startWatchRig(chain, { finalDepthBlocks }, [firstProxy.url, secondProxy.url]);
  });
  const WitnessedAtRow = z.object({ witnessedAt: z.date().nullable() });
  const readWitnessedAt = (txid: string): Promise<Date | null> =>
    rig.pool.oneFirst(sql.type(WitnessedAtRow)`
      SELECT witnessed_at AS "witnessedAt" FROM payments WHERE source_transaction = ${txid}
    `);

  test("counts as on time from the moment both nodes know it (rule STATE-15)", async () => {
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    let hiddenCount = 0;
    secondProxy.misreport((method, _params, result) => {
      const isUnconfirmed =
        method === "getrawtransaction" && !JSON.stringify(result).includes("blockhash");
      if (!isUnconfirmed) return result;
      hiddenCount += 1;
      throw new RpcError(-5, "No such mempool or blockchain transaction");
    });
    const txid = await chain.pay(toPayee(link));
    await rig.waitForPublished(link.id, 1);
    await waitUntil("the second node was asked", () => hiddenCount > 0);
    expect(await readWitnessedAt(txid)).toBeNull();
    const knownSinceMs = Date.now();
    secondProxy.clearFaults();
    await waitUntil("both nodes know it", async () => (await readWitnessedAt(txid)) !== null);
    const witnessedAt = await readWitnessedAt(txid);
    expect(witnessedAt?.getTime()).toBeGreaterThanOrEqual(knownSinceMs);
    await chain.mine();
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
      witnessedAt: witnessedAt?.toISOString(),
    });
  });
});
