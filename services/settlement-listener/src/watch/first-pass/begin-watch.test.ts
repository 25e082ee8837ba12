import { beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { openScriptedRpc } from "../../testing/scripted-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

const keep = closeAfterEach();

/** A watch that is not started yet, and its providers. */
const open = async (count: number) => {
  const opening = Array.from({ length: count }, () => openScriptedRpc({ target: chain.url }));
  const rpcs = (await Promise.all(opening)).map(keep);
  const urls = rpcs.map(({ url }) => url);
  const rig = keep(await openWatchRig(chain, { finality: "finalized" }, urls));
  const [first, second] = rpcs;
  if (first === undefined || second === undefined) throw new Error("there are two");
  return { rig, first, second };
};

const pay = async (rig: WatchRig) => {
  const link = await rig.hearNew();
  await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
  await chain.mine(2);
  return link;
};

const begins = (rig: WatchRig) =>
  waitUntil("it has begun", async () => (await rig.readStatus()).scannedTo !== null);

const settles = (rig: WatchRig, linkId: string) =>
  waitUntil("it settles", () => rig.statuses(linkId).at(-1) === "settled 7");

describe("where the watch of a chain begins", () => {
  test("is the last final block: only an operator's rescan finds older payments (rule CHAIN-9)", async () => {
    const { rig } = await open(2);
    const link = await pay(rig);
    const paidAt = (await chain.headNumber()) - 1;
    await chain.mine(finalBlocks);
    await rig.service.start();
    await rig.caughtUp();
    await chain.mine(finalBlocks + 2);
    await rig.caughtUp();
    await waitUntil(
      "the second pass has read past it",
      async () => ((await rig.readStatus()).auditedTo ?? 0) > paidAt,
    );
    expect(rig.statuses(link.id)).toEqual([]);
    const answer = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: chain.chainId, fromBlock: paidAt, toBlock: paidAt }),
    });
    expect(answer.status).toBe(202);
    await settles(rig, link.id);
  });

  test("is no block that one of two alone calls final", async () => {
    const { rig, first, second } = await open(2);
    const link = await pay(rig);
    first.play({ kind: "early_final" });
    const outage = second.play({ kind: "down" });
    await rig.service.start();
    await waitUntil("it is kept", async () => (await rig.readStatus()).firstBlock !== null);
    expect((await rig.readStatus()).scannedTo).toBeNull();
    outage.stop();
    first.heal();
    await begins(rig);
    await chain.mine(finalBlocks + 2);
    await settles(rig, link.id);
  });

  test("is before what is paid while only one of two answers, also after a restart", async () => {
    const { rig, second } = await open(2);
    const outage = second.play({ kind: "down" });
    await rig.service.start();
    await waitUntil("it is kept", async () => (await rig.readStatus()).firstBlock !== null);
    await rig.service.stop();
    const link = await pay(rig);
    await chain.mine(2 * finalBlocks);
    await rig.service.start();
    outage.stop();
    await settles(rig, link.id);
  });

  test("is the block of two where the first of three is on a fork", async () => {
    const { rig, first } = await open(3);
    const fork = first.play({ kind: "forked", fromBlock: 1 });
    await rig.service.start();
    await begins(rig);
    const link = await pay(rig);
    await chain.mine(finalBlocks);
    await settles(rig, link.id);
    fork.stop();
    expect(await rig.readStatus()).toMatchObject({ reason: null });
  });
});
