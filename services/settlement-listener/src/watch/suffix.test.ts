import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Decimal, type PaymentLinkState, toEip55 } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { type ScriptedRpc, openScriptedRpc } from "../testing/scripted-rpc.ts";

const units = 1_000_000n;
const policyBlocks = 2;
/** `finalized` is eight blocks behind the head. */
const chain = useRig(() => openChain({ slotsInEpoch: 4 }));
let rig: WatchRig;
const rpcs: ScriptedRpc[] = [];
const open = async (
  override: Parameters<typeof openWatchRig>[1] = {},
  providerCount = 1,
): Promise<void> => {
  await chain.mine(9);
  for (let opened = 0; opened < providerCount; opened += 1) {
    rpcs.push(await openScriptedRpc({ target: chain.url }));
  }
  rig = await openWatchRig(
    chain,
    { finality: { blocks: policyBlocks }, findsDeposits: true, ...override },
    rpcs.map(({ url }) => url),
  );
  await rig.service.start();
};
afterEach(async () => {
  await rig.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** A link whose owner no other test pays, and of which the watcher has heard. */
const openLink = async () => {
  const to = toEip55(`0x${randomBytes(20).toString("hex")}`);
  const link = await rig.hearNew({ destinationAddress: to });
  await rig.caughtUp();
  return { link, order: { reference: link.paymentReference, to } };
};
const settles = (link: PaymentLinkState) =>
  waitUntil("it is settled", () => rig.told(link.id).some(({ status }) => status === "settled"));

/** Asks the node, and has it say that no calldata has anything behind its arguments. */
const withoutSuffix = (reply: unknown): string =>
  JSON.stringify(reply).replaceAll(/("input":"0xa9059cbb[0-9a-f]{128})[0-9a-f]*"/g, '$1"');
/** A node that has lost its transactions. */
const withoutTransactions = (reply: unknown): string =>
  JSON.stringify([reply].flat().map((one) => ({ ...(one as object), result: null }))).replace(
    /^\[(.*)\]$/,
    Array.isArray(reply) ? "[$1]" : "$1",
  );
const ofTransactions = { methods: ["eth_getTransactionByHash"] };

describe("a payment by suffix (rule CHAIN-22)", () => {
  test("counts from a hundredth on, whatever the least amount of deposits is", async () => {
    const usdc = toEip55(chain.addressOf("usdc"));
    await open({ depositMinimums: { [usdc]: new Decimal(5) } });
    const { link, order } = await openLink();
    await chain.payBySuffix({ ...order, amount: 9_999n });
    await chain.payBySuffix({ ...order, amount: 10_000n, payer: 1 });
    await chain.give({ to: order.to, amount: 4n * units, payer: 2 });
    await chain.mine(1 + policyBlocks);
    await settles(link);
    expect(rig.statuses(link.id).at(-1)).toBe("settled 0.01");
    expect(rig.told(link.id).every(({ amount }) => amount === "0.01")).toBe(true);
    expect(rig.deposits(order.to)).toEqual([]);
  });

  test("is neither payment nor deposit while nobody tells its calldata", async () => {
    await open();
    const { link, order } = await openLink();
    const playing = rpcs[0]?.play({ kind: "hostile", spoil: withoutTransactions }, ofTransactions);
    await chain.payBySuffix({ ...order, amount: 3n * units });
    await chain.mine(1 + policyBlocks);
    await waitUntil("it was asked for", () => (playing?.struckCount() ?? 0) > 2);
    expect([rig.statuses(link.id), rig.deposits(order.to)]).toEqual([[], []]);
    playing?.stop();
    await settles(link);
    expect(rig.deposits(order.to)).toEqual([]);
  });

  // Guards money: one provider that hides a suffix, or invents one, moves nothing.
  test("settles once two providers say the same of its calldata", async () => {
    await open({}, 2);
    const { link, order } = await openLink();
    const playing = rpcs[1]?.play({ kind: "hostile", spoil: withoutSuffix }, ofTransactions);
    await chain.payBySuffix({ ...order, amount: 3n * units });
    await chain.mine(1 + policyBlocks);
    await waitUntil("the second one is asked", () => (playing?.struckCount() ?? 0) > 2);
    expect(rig.statuses(link.id)).toEqual(["processing 3"]);
    playing?.stop();
    await settles(link);
    expect([rig.statuses(link.id), rig.deposits(order.to)]).toEqual([
      ["processing 3", "settled 3"],
      [],
    ]);
  });

  test("that the first of three hides settles, and the deposit that it made of it is taken back", async () => {
    await open({ finality: "finalized" }, 3);
    const { link, order } = await openLink();
    rpcs[0]?.play({ kind: "hostile", spoil: withoutSuffix }, ofTransactions);
    await chain.payBySuffix({ ...order, amount: 3n * units });
    await chain.mine();
    await waitUntil("it is taken for a deposit", () => rig.deposits(order.to).length === 1);
    await chain.mine(12);
    await settles(link);
    await waitUntil("it is no deposit", () => rig.deposits(order.to).length === 2);
    expect(rig.deposits(order.to).map(({ type }) => type)).toEqual([
      "deposit.seen",
      "deposit.orphaned",
    ]);
    expect(rig.told(link.id).filter(({ status }) => status === "settled")).toHaveLength(1);
  });

  test("is found by the second look where the first provider left its transfer out", async () => {
    await open({ finality: "finalized" }, 2);
    const { link, order } = await openLink();
    const empty = rpcs[0]?.play({ kind: "empty_logs" });
    await chain.payBySuffix({ ...order, amount: 4n * units });
    await chain.mine();
    await rig.caughtUp();
    expect(rig.statuses(link.id)).toEqual([]);
    empty?.stop();
    await chain.mine(10);
    await settles(link);
    expect([rig.statuses(link.id), rig.deposits(order.to)]).toEqual([
      ["processing 4", "settled 4"],
      [],
    ]);
  });

  test("costs no question about a transaction where payments come through the proxy", async () => {
    await open();
    const { link, order } = await openLink();
    const asked = () => rpcs[0]?.counts().methods.get("eth_getTransactionByHash") ?? 0;
    const before = asked();
    await chain.pay({ ...order, amount: units });
    await chain.mine(1 + policyBlocks);
    await settles(link);
    // The watch itself asks once, for sender and nonce.
    expect(asked() - before).toBeLessThanOrEqual(1);
  });
});
