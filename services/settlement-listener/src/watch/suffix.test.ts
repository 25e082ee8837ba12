import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/chains";
import { Decimal, type PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

const baseUnitsPerToken = 1_000_000n;
const policyBlocks = 2;
/** `finalized` is eight blocks behind the head. */
const chain = useRig(() => startEvmChain({ slotsInEpoch: 4 }));
let rig: WatchRig;
const rpcs: ScriptedRpc[] = [];
const startWatch = async (
  settings: Parameters<typeof createWatchRig>[1] = {},
  providerCount = 1,
): Promise<void> => {
  await chain.mine(9);
  for (let providerIndex = 0; providerIndex < providerCount; providerIndex += 1) {
    rpcs.push(await startScriptedRpc({ target: chain.url }));
  }
  rig = await createWatchRig(
    chain,
    { finality: { blocks: policyBlocks }, findsDeposits: true, ...settings },
    rpcs.map(({ url }) => url),
  );
  await rig.service.start();
};
afterEach(async () => {
  await rig.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** Creates a link that the service has received. No other test pays its owner. */
const createPaidLink = async () => {
  const to = toEip55(`0x${randomBytes(20).toString("hex")}`);
  const link = await rig.receiveNewLink({ destinationAddress: to });
  await rig.waitUntilScanned();
  return { link, order: { reference: link.paymentReference, to } };
};
const waitUntilSettled = (link: PaymentLinkState) =>
  waitUntil("the payment is settled", () =>
    rig.publishedPayments(link.id).some(({ status }) => status === "settled"),
  );

/** Removes everything after the arguments of `transfer` from the calldata in a node's reply. */
const removeSuffixes = (reply: unknown): string =>
  JSON.stringify(reply).replaceAll(/("input":"0xa9059cbb[0-9a-f]{128})[0-9a-f]*"/g, '$1"');
/** Makes a node return null for all transactions. */
const removeTransactions = (reply: unknown): string =>
  JSON.stringify(
    [reply].flat().map((rpcReply) => ({ ...(rpcReply as object), result: null })),
  ).replace(/^\[(.*)\]$/, Array.isArray(reply) ? "[$1]" : "$1");
const transactionMethods = { methods: ["eth_getTransactionByHash"] };

describe("a payment by suffix (rule CHAIN-22)", () => {
  test("is applied from 0.01 on, whatever the minimum for deposits is", async () => {
    const usdc = toEip55(chain.getTokenAddress("usdc"));
    await startWatch({ depositMinimums: { [usdc]: new Decimal(5) } });
    const { link, order } = await createPaidLink();
    await chain.payBySuffix({ ...order, amount: 9_999n });
    await chain.payBySuffix({ ...order, amount: 10_000n, payer: 1 });
    await chain.transferToken({ to: order.to, amount: 4n * baseUnitsPerToken, payer: 2 });
    await chain.mine(1 + policyBlocks);
    await waitUntilSettled(link);
    expect(rig.publishedStatuses(link.id).at(-1)).toBe("settled 0.01");
    expect(rig.publishedPayments(link.id).every(({ amount }) => amount === "0.01")).toBe(true);
    expect(rig.publishedDeposits(order.to)).toEqual([]);
  });

  test("is neither a payment nor a deposit while no provider returns its calldata", async () => {
    await startWatch();
    const { link, order } = await createPaidLink();
    const playedFault = rpcs[0]?.injectFault(
      { kind: "hostile", corrupt: removeTransactions },
      transactionMethods,
    );
    await chain.payBySuffix({ ...order, amount: 3n * baseUnitsPerToken });
    await chain.mine(1 + policyBlocks);
    await waitUntil("the calldata was requested", () => (playedFault?.getHitCount() ?? 0) > 2);
    expect([rig.publishedStatuses(link.id), rig.publishedDeposits(order.to)]).toEqual([[], []]);
    playedFault?.stop();
    await waitUntilSettled(link);
    expect(rig.publishedDeposits(order.to)).toEqual([]);
  });

  // Guards money: a single provider that hides or invents a suffix must not settle a payment.
  test("settles once two providers agree on its calldata", async () => {
    await startWatch({}, 2);
    const { link, order } = await createPaidLink();
    const playedFault = rpcs[1]?.injectFault(
      { kind: "hostile", corrupt: removeSuffixes },
      transactionMethods,
    );
    await chain.payBySuffix({ ...order, amount: 3n * baseUnitsPerToken });
    await chain.mine(1 + policyBlocks);
    await waitUntil(
      "the second provider is requested",
      () => (playedFault?.getHitCount() ?? 0) > 2,
    );
    expect(rig.publishedStatuses(link.id)).toEqual(["processing 3"]);
    playedFault?.stop();
    await waitUntilSettled(link);
    expect([rig.publishedStatuses(link.id), rig.publishedDeposits(order.to)]).toEqual([
      ["processing 3", "settled 3"],
      [],
    ]);
  });

  test("settles if the first of three providers hides it, and the resulting deposit becomes orphaned", async () => {
    await startWatch({ finality: "finalized" }, 3);
    const { link, order } = await createPaidLink();
    rpcs[0]?.injectFault({ kind: "hostile", corrupt: removeSuffixes }, transactionMethods);
    await chain.payBySuffix({ ...order, amount: 3n * baseUnitsPerToken });
    await chain.mine();
    await waitUntil(
      "the payment is published as a deposit",
      () => rig.publishedDeposits(order.to).length === 1,
    );
    await chain.mine(12);
    await waitUntilSettled(link);
    await waitUntil(
      "the deposit is published as orphaned",
      () => rig.publishedDeposits(order.to).length === 2,
    );
    expect(rig.publishedDeposits(order.to).map(({ type }) => type)).toEqual([
      "deposit.seen",
      "deposit.orphaned",
    ]);
    expect(
      rig.publishedPayments(link.id).filter(({ status }) => status === "settled"),
    ).toHaveLength(1);
  });

  test("is found by the audit if the first provider left its transfer out", async () => {
    await startWatch({ finality: "finalized" }, 2);
    const { link, order } = await createPaidLink();
    const hiddenLogs = rpcs[0]?.injectFault({ kind: "empty_logs" });
    await chain.payBySuffix({ ...order, amount: 4n * baseUnitsPerToken });
    await chain.mine();
    await rig.waitUntilScanned();
    expect(rig.publishedStatuses(link.id)).toEqual([]);
    hiddenLogs?.stop();
    await chain.mine(10);
    await waitUntilSettled(link);
    expect([rig.publishedStatuses(link.id), rig.publishedDeposits(order.to)]).toEqual([
      ["processing 4", "settled 4"],
      [],
    ]);
  });

  test("requests no transactions for payments through the proxy", async () => {
    await startWatch();
    const { link, order } = await createPaidLink();
    const countTransactionRequests = () =>
      rpcs[0]?.getCounts().methods.get("eth_getTransactionByHash") ?? 0;
    const countBefore = countTransactionRequests();
    await chain.pay({ ...order, amount: baseUnitsPerToken });
    await chain.mine(1 + policyBlocks);
    await waitUntilSettled(link);
    // The watch itself sends one request, for the sender and nonce.
    expect(countTransactionRequests() - countBefore).toBeLessThanOrEqual(1);
  });
});
