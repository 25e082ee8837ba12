import { afterEach, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { keccak256Hex } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { recordWaiting } from "../../sightings/record-waiting.ts";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { owner } from "../../testing/samples.ts";
import { createHurriedClock } from "../../testing/short-rests.ts";
import { RpcError, serveJsonRpc } from "../../testing/serve-json-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));

/** The second provider: it may refuse to say of one account how many nonces it has used. */
const openSecond = async () => {
  const told = {
    refused: "",
    /** What each answer waits for. */
    until: Promise.resolve(),
    askedCount: 0,
    underWay: 0,
    underWayMost: 0,
  };
  const served = await serveJsonRpc({
    answer: async (method, params) => {
      if (method !== "eth_getTransactionCount") return chain.ask(method, params);
      if (params[0] === told.refused) throw new RpcError(-32_000, "no state of this account");
      told.askedCount += 1;
      told.underWay += 1;
      told.underWayMost = Math.max(told.underWayMost, told.underWay);
      await told.until;
      told.underWay -= 1;
      return chain.ask(method, params);
    },
  });
  return { ...served, told };
};

const { clock, waitHurried } = createHurriedClock();
const waitFailed = (rig: WatchRig, linkId: string) =>
  waitHurried("it fails", () => rig.told(linkId).at(-1)?.status === "failed");

const keep = closeAfterEach();
let rig: WatchRig | undefined;
let second: Awaited<ReturnType<typeof openSecond>> | undefined;
const open = async () => {
  await chain.mine(finalBlocks + 1);
  second = await openSecond();
  rig = await startWatchRig(chain, { finality: "finalized" }, [chain.url, second.url], clock);
  await rig.caughtUp();
  return { rig, told: second.told };
};
afterEach(async () => {
  await rig?.close();
  await second?.close();
});

/** A payment that is seen in the newest block with its nonce. */
const paySeen = async (rig: WatchRig, payer: 1 | 2) => {
  const link = await rig.hearNew();
  const order = { reference: link.paymentReference, to: owner, amount: 7n, payer } as const;
  const hash = await chain.pay(order);
  await chain.mine();
  await rig.waitTold(link.id, 1);
  return { linkId: link.id, replace: await replacerOf(hash) };
};

/** Sends another transaction of the same sender and nonce. */
const replacerOf = async (hash: Hex) => {
  const { from, gasPrice = 0n, nonce } = await chain.client.getTransaction({ hash });
  const hex = (value: bigint | number) => `0x${value.toString(16)}`;
  const other = { from, to: from, nonce: hex(nonce), gasPrice: hex(gasPrice * 3n + 1n) };
  return () => chain.ask("eth_sendTransaction", [other]);
};

test("of two lost payments one fails, though a provider does not say what the other one's sender sent", async () => {
  const { rig, told } = await open();
  const [untold, sure] = [await paySeen(rig, 1), await paySeen(rig, 2)];
  told.refused = chain.payers[1].toLowerCase();
  await chain.reorg(2);
  for (const { replace } of [untold, sure]) await replace();
  await chain.mine(finalBlocks + 2);
  await waitFailed(rig, sure.linkId);
  expect(rig.told(untold.linkId).at(-1)?.status).toBe("processing");
  told.refused = "";
  await chain.mine();
  await waitFailed(rig, untold.linkId);
});

/** A node that keeps the state of its four newest blocks, as those of Base and Arbitrum keep less than is final. */
const openPruned = async () => {
  const served = await serveJsonRpc({
    answer: async (method, params) => {
      const isPruned =
        method === "eth_getTransactionCount" &&
        Number(params[1]) < (await chain.headNumber()) - keptStates;
      if (isPruned) throw new RpcError(-32_000, "missing trie node: state is not available");
      return chain.ask(method, params);
    },
  });
  return keep(served);
};
const keptStates = 3;

test.each([1, 2])(
  "a lost payment fails although none of %i nodes has the state of a final block (rule CHAIN-5)",
  async (providerCount) => {
    await chain.mine(finalBlocks + 1);
    const nodes = [];
    for (let i = 0; i < providerCount; i += 1) nodes.push(await openPruned());
    const urls = nodes.map(({ url }) => url);
    rig = await startWatchRig(chain, { finality: "finalized" }, urls, clock);
    await rig.caughtUp();
    const watched = rig;
    const { linkId, replace } = await paySeen(watched, 1);
    await chain.reorg(1);
    await replace();
    await chain.mine();
    await watched.caughtUp();
    // A replacement that is not final yet may be taken away itself.
    expect(watched.told(linkId).at(-1)?.status).toBe("processing");
    await waitHurried("it fails", async () => {
      await chain.mine();
      return watched.told(linkId).at(-1)?.status === "failed";
    });
  },
);

/** Records payments that were lost, of transactions that no node knows and whose nonces nobody uses. */
const recordLost = async (rig: WatchRig, count: number, senderOf?: (index: number) => string) => {
  const link = await rig.hearNew();
  const referenceHash = keccak256Hex(link.paymentReference);
  const lost = Array.from({ length: count }, (_, index) => {
    const transfer = sampleTransfer({ chainId: chain.chainId, referenceHash });
    const { sender } = transfer;
    const kept = { nonce: 7, isOrphaned: true, paymentLinkId: null };
    return { ...transfer, ...kept, sender: senderOf?.(index) ?? sender };
  });
  await transact(rig.pool, (tx) => recordWaiting(tx, lost, new Date()));
};

test("one fails behind more lost payments than are judged in a turn, of which none can be decided", async () => {
  const { rig } = await open();
  for (let page = 0; page < 50; page += 1) await recordLost(rig, 100);
  const { linkId, replace } = await paySeen(rig, 1);
  await chain.reorg(1);
  await replace();
  await chain.mine(finalBlocks + 2);
  await waitFailed(rig, linkId);
});

test("what the senders of lost payments have sent is asked for four at a time", async () => {
  const { rig, told } = await open();
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  told.until = promise;
  const count = 40;
  await recordLost(rig, count, (index) => `0x${(index + 1).toString(16).padStart(40, "0")}`);
  await chain.mine();
  await waitUntil("some are asked for", () => told.underWay >= 4);
  // As many as are asked for at once are by then: the first pass goes on meanwhile.
  await chain.mine();
  await rig.caughtUp();
  answer();
  await waitUntil("all are asked for", () => told.askedCount >= count);
  expect(told.underWayMost).toBe(4);
});
