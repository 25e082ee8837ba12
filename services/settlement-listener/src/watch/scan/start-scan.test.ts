import { beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

const closeAfterTest = closeAfterEach();

/** Creates a watch without starting it, and its providers. */
const createWatch = async (count: number) => {
  const startingRpcs = Array.from({ length: count }, () => startScriptedRpc({ target: chain.url }));
  const rpcs = (await Promise.all(startingRpcs)).map(closeAfterTest);
  const urls = rpcs.map(({ url }) => url);
  const rig = closeAfterTest(await createWatchRig(chain, { finality: "finalized" }, urls));
  const [first, second] = rpcs;
  if (first === undefined || second === undefined) throw new Error("a provider is missing");
  return { rig, first, second };
};

const payNewLink = async (rig: WatchRig) => {
  const link = await rig.receiveNewLink();
  await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
  await chain.mine(2);
  return link;
};

const waitUntilStarted = (rig: WatchRig) =>
  waitUntil("the scan has started", async () => (await rig.readStatus()).scannedTo !== null);

const waitUntilSettled = (rig: WatchRig, linkId: string) =>
  waitUntil("the payment settles", () => rig.publishedStatuses(linkId).at(-1) === "settled 7");

describe("the start of a chain's watch", () => {
  test("is at the last final block: only an operator's rescan finds older payments (rule CHAIN-9)", async () => {
    const { rig } = await createWatch(2);
    const link = await payNewLink(rig);
    const paidAt = (await chain.readHeadNumber()) - 1;
    await chain.mine(finalBlocks);
    await rig.service.start();
    await rig.waitUntilScanned();
    await chain.mine(finalBlocks + 2);
    await rig.waitUntilScanned();
    await waitUntil(
      "the block of the payment is audited",
      async () => ((await rig.readStatus()).auditedTo ?? 0) > paidAt,
    );
    expect(rig.publishedStatuses(link.id)).toEqual([]);
    const response = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: chain.chainId, fromBlock: paidAt, toBlock: paidAt }),
    });
    expect(response.status).toBe(202);
    await waitUntilSettled(rig, link.id);
  });

  test("is not at a block that only one of two providers calls final", async () => {
    const { rig, first, second } = await createWatch(2);
    const link = await payNewLink(rig);
    first.injectFault({ kind: "early_final" });
    const outage = second.injectFault({ kind: "down" });
    await rig.service.start();
    await waitUntil(
      "the first block is stored",
      async () => (await rig.readStatus()).firstBlock !== null,
    );
    expect((await rig.readStatus()).scannedTo).toBeNull();
    outage.stop();
    first.clearFaults();
    await waitUntilStarted(rig);
    await chain.mine(finalBlocks + 2);
    await waitUntilSettled(rig, link.id);
  });

  test("is before payments made while only one of two providers answers, also after a restart", async () => {
    const { rig, second } = await createWatch(2);
    const outage = second.injectFault({ kind: "down" });
    await rig.service.start();
    await waitUntil(
      "the first block is stored",
      async () => (await rig.readStatus()).firstBlock !== null,
    );
    await rig.service.stop();
    const link = await payNewLink(rig);
    await chain.mine(2 * finalBlocks);
    await rig.service.start();
    outage.stop();
    await waitUntilSettled(rig, link.id);
  });

  test("is at the block of two providers if the first of three is on a fork", async () => {
    const { rig, first } = await createWatch(3);
    const fork = first.injectFault({ kind: "forked", fromBlock: 1 });
    await rig.service.start();
    await waitUntilStarted(rig);
    const link = await payNewLink(rig);
    await chain.mine(finalBlocks);
    await waitUntilSettled(rig, link.id);
    fork.stop();
    expect(await rig.readStatus()).toMatchObject({ reason: null });
  });
});
