import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/chains";
import { Decimal } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../service.ts";
import { recordTransfers } from "../payment-reports/record-transfers.ts";
import { hideLogs } from "../testing/hide-logs.ts";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
let rig: WatchRig;
const rpcs: ScriptedRpc[] = [];
const startWatch = async (
  settings: Parameters<typeof createWatchRig>[1] = {},
  providerCount = 0,
): Promise<void> => {
  await chain.mine(finalBlocks + 1);
  for (let providerIndex = 0; providerIndex < providerCount; providerIndex += 1) {
    rpcs.push(await startScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.length === 0 ? [chain.url] : rpcs.map(({ url }) => url);
  rig = await createWatchRig(
    chain,
    { finality: { blocks: 3 }, findsDeposits: true, ...settings },
    urls,
  );
  await rig.service.start();
};
afterEach(async () => {
  await rig.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const createAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);

/** Creates an owner whose address no other test uses, by sending a link to the service. */
const createOwner = async (): Promise<string> => {
  const destinationAddress = createAddress();
  await rig.receiveNewLink({ destinationAddress });
  await rig.waitUntilScanned();
  return destinationAddress;
};

const listDepositSteps = (address: string) =>
  rig.publishedDeposits(address).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const getDepositStatus = (address: string) => rig.publishedDeposits(address).at(-1)?.deposit.status;
const waitForStatus = (address: string, status: string) =>
  waitUntil(`the deposit is ${status}`, () => getDepositStatus(address) === status);
const waitForSteps = (address: string, count: number) =>
  waitUntil(
    `${count} deposit events are published`,
    () => listDepositSteps(address).length >= count,
  );
/**
 * Waits until everything mined so far has settled. Payments that are still unpublished then will
 * never be published.
 */
const waitUntilAllSettled = async (): Promise<void> => {
  const markerOwner = await createOwner();
  await chain.transferToken({ to: markerOwner, amount: 1_000_000n });
  await chain.mine(4);
  await waitForStatus(markerOwner, "settled");
};

describe("a transfer without a reference (rule CHAIN-20)", () => {
  test("is a deposit: seen once it is mined, and settled by the chain's policy", async () => {
    await startWatch();
    const owner = await createOwner();
    const hash = await chain.transferToken({ to: owner, amount: 12_500_000n, payer: 1 });
    await chain.mine();
    await waitForSteps(owner, 1);
    await chain.mine(2);
    await rig.waitUntilScanned();
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 12.5"]);
    await chain.mine();
    await waitForSteps(owner, 2);
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 12.5", "deposit.settled 12.5"]);
    const [seen, settled] = rig.publishedDeposits(owner);
    expect(settled?.deposit).toEqual({
      ...seen?.deposit,
      id: expect.stringMatching(/^dep_/),
      version: 2,
      status: "settled",
      chainId: chain.chainId,
      tokenAddress: toEip55(chain.getTokenAddress("usdc")),
      payer: chain.payers[1],
      sourceTransaction: hash,
    });
  });

  test("is no deposit if it belongs to a payment of the same receipt, or if no link is paid at its address", async () => {
    await startWatch();
    const owner = await createOwner();
    const unknownAddress = createAddress();
    const reference = randomBytes(16).toString("hex");
    await chain.pay({ reference, to: owner, amount: 5_000_000n });
    await chain.transferToken({ to: unknownAddress, amount: 5_000_000n });
    await waitUntilAllSettled();
    expect(listDepositSteps(owner)).toEqual([]);
    expect(listDepositSteps(unknownAddress)).toEqual([]);
  });

  test("is not reported below the configured minimum, or in a token that is not in the catalogue", async () => {
    const usdc = toEip55(chain.getTokenAddress("usdc"));
    await startWatch({ depositMinimums: { [usdc]: new Decimal("2.000001") } });
    const owner = await createOwner();
    const markerOwner = await createOwner();
    await chain.transferToken({ to: owner, amount: 2_000_000n });
    await chain.transferToken({ to: owner, amount: 0n });
    await chain.transferToken({ to: owner, amount: 9_999n, token: "other6" });
    await chain.transferToken({ to: owner, amount: 50_000_000n, token: "unlisted" });
    await chain.mine();
    await chain.transferToken({ to: owner, amount: 2_000_001n });
    await chain.transferToken({ to: owner, amount: 10_000n, token: "other6" });
    await chain.transferToken({ to: markerOwner, amount: 3_000_000n });
    await chain.mine(4);
    await waitForStatus(markerOwner, "settled");
    const settled = listDepositSteps(owner).filter((step) => step.startsWith("deposit.settled"));
    expect(settled.toSorted()).toEqual(["deposit.settled 0.01", "deposit.settled 2.000001"]);
  });

  test("is ignored while deposits are disabled", async () => {
    await startWatch({ findsDeposits: false });
    const owner = createAddress();
    const link = await rig.receiveNewLink({ destinationAddress: owner });
    await rig.waitUntilScanned();
    await chain.transferToken({ to: owner, amount: 1_000_000n });
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(4);
    await waitUntil(
      "the payment is settled",
      () => rig.publishedPayments(link.id).at(-1)?.status === "settled",
    );
    expect(listDepositSteps(owner)).toEqual([]);
  });

  // 10,000 is the maximum number of payments in one settlement step.
  test("delays no payment once deposits are disabled, however many deposits are pending", async () => {
    await startWatch({ findsDeposits: false });
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    const pendingDeposits = Array.from({ length: 10_000 }, () =>
      sampleTransfer({
        chainId: chain.chainId,
        blockNumber: 1,
        payer: createAddress(),
        isDeposit: true,
      }),
    );
    await transact(rig.pool, (tx) => recordTransfers(tx, pendingDeposits, new Date()));
    const { paymentReference: reference, destinationAddress } = link;
    await chain.pay({ reference, to: destinationAddress, amount: 3_000_000n });
    await chain.mine(4);
    await waitUntil("the payment is settled", () =>
      rig.publishedStatuses(link.id).includes("settled 3"),
    );
  });

  test.each<[string, { findsDeposits?: boolean; least?: Decimal }]>([
    ["deposits are disabled", { findsDeposits: false }],
    ["the minimum is raised", { least: new Decimal(5) }],
  ])("stays a seen deposit after %s", async (_, { least: minimum, ...otherSettings }) => {
    await startWatch({ finality: "finalized" });
    const usdc = toEip55(chain.getTokenAddress("usdc"));
    const changedSettings = {
      ...otherSettings,
      ...(minimum && { depositMinimums: { [usdc]: minimum } }),
    };
    const owner = await createOwner();
    await chain.transferToken({ to: owner, amount: 1_000_000n });
    await chain.mine();
    await waitForSteps(owner, 1);
    await rig.service.stop();
    const overrides = Object.entries(rig.config.chainOverrides).map(
      ([id, chainOverride]) => [id, { ...chainOverride, ...changedSettings }] as const,
    );
    const otherService = createSettlementListener(
      { ...rig.context, metrics: createMetrics("other") },
      { ...rig.config, chainOverrides: Object.fromEntries(overrides) },
    );
    await otherService.start();
    await chain.mine(finalBlocks + 2);
    await rig.waitUntilScanned();
    // The next step settles due payments before it scans.
    await chain.mine();
    await rig.waitUntilScanned();
    await otherService.stop();
    expect(listDepositSteps(owner)).not.toContain("deposit.orphaned 1");
  });

  test("stays one deposit when a reorg moves it to another block (rule CHAIN-21)", async () => {
    await startWatch();
    const owner = await createOwner();
    const hash = await chain.transferToken({ to: owner, amount: 7_000_000n });
    await chain.mine();
    await waitForSteps(owner, 1);
    const raw = await chain.readRawTransaction(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(4);
    await waitForSteps(owner, 2);
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 7", "deposit.settled 7"]);
    expect(new Set(rig.publishedDeposits(owner).map(({ deposit }) => deposit.id)).size).toBe(1);
  });

  test("becomes orphaned if its transaction can never be mined again", async () => {
    await startWatch({ finality: "finalized" });
    const owner = await createOwner();
    await chain.transferToken({ to: owner, amount: 7_000_000n });
    await chain.mine();
    await waitForSteps(owner, 1);
    await chain.reorg(1);
    // This transaction uses up the sender's nonce.
    await chain.transferToken({ to: createAddress(), amount: 1n });
    await chain.mine(finalBlocks + 2);
    await waitForSteps(owner, 2);
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 7", "deposit.orphaned 7"]);
    expect(rig.publishedDeposits(owner).at(-1)?.deposit.status).toBe("orphaned");
  });

  test("is published as orphaned if a reorg removes it after it settled, and as settled when it is back", async () => {
    await startWatch({ finality: { blocks: 1 } });
    const owner = await createOwner();
    const hash = await chain.transferToken({ to: owner, amount: 3_000_000n });
    await chain.mine();
    await waitForSteps(owner, 1);
    await chain.mine();
    await waitForStatus(owner, "settled");
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(2);
    await waitForStatus(owner, "orphaned");
    await chain.reorg(1, [{ raw, offset: 0 }]);
    await chain.mine(3);
    await waitForStatus(owner, "settled");
    expect(
      rig.publishedDeposits(owner).map(({ deposit }) => `${deposit.status} v${deposit.version}`),
    ).toEqual(["seen v1", "settled v2", "orphaned v3", "settled v4"]);
  });

  test("settles in another process than the one that saw it", async () => {
    await startWatch();
    const owner = await createOwner();
    await chain.transferToken({ to: owner, amount: 1_000_000n });
    await chain.mine();
    await waitForSteps(owner, 1);
    await rig.service.stop();
    await chain.mine(3);
    const otherService = createSettlementListener(
      { ...rig.context, metrics: createMetrics("other") },
      rig.config,
    );
    await otherService.start();
    await waitForSteps(owner, 2);
    await otherService.stop();
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 1", "deposit.settled 1"]);
  });
});

test("an operator's rescan finds a deposit next to a known one, to an address that became an owner's later (rule CHAIN-21)", async () => {
  await startWatch();
  const owner = await createOwner();
  const laterOwner = createAddress();
  const payments = [owner, laterOwner].map((to) => ({
    reference: randomBytes(16).toString("hex"),
    to,
    amount: 1_000_000n,
  }));
  // The payer is a contract, because references in a contract's calls are not read.
  await chain.payBySuffixInOneTransaction(payments);
  const paidBlock = (await chain.readHeadNumber()) + 1;
  await chain.mine(finalBlocks + 2);
  await waitForStatus(owner, "settled");
  await rig.receiveNewLink({ destinationAddress: laterOwner });
  const response = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: chain.chainId, fromBlock: paidBlock, toBlock: paidBlock }),
  });
  expect(response.status).toBe(202);
  await waitForStatus(laterOwner, "settled");
  const settled = [owner, laterOwner].map((address) =>
    listDepositSteps(address).filter((step) => step === "deposit.settled 1"),
  );
  expect(settled.map(({ length }) => length)).toEqual([1, 1]);
});

/** Replaces the sender of the token transfers in the receipts. */
const replacePayer = (reply: unknown, payer: string): string =>
  JSON.stringify(reply, (key, value: unknown) => {
    if (key !== "topics" || !Array.isArray(value) || value.length !== 3) return value;
    const [event, , to] = value as string[];
    return [event, `0x${"0".repeat(24)}${payer.slice(2).toLowerCase()}`, to];
  });

describe("a deposit with two providers", () => {
  test("settles by both, and the audit finds it if the first provider left it out", async () => {
    await startWatch({ finality: "finalized" }, 2);
    const owner = await createOwner();
    const [firstRpc] = rpcs;
    const hiddenLogs = firstRpc?.injectFault({ kind: "empty_logs" });
    await chain.transferToken({ to: owner, amount: 4_000_000n });
    await chain.mine();
    await rig.waitUntilScanned();
    expect(listDepositSteps(owner)).toEqual([]);
    hiddenLogs?.stop();
    await chain.mine(finalBlocks + 2);
    await waitForSteps(owner, 2);
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 4", "deposit.settled 4"]);
  });

  // Guards refunds: the owner sees this payer and could send the money back there.
  test("is published with the payer that both return, whatever the first one returned before, also when republished", async () => {
    await startWatch({ finality: "finalized" }, 2);
    const owner = await createOwner();
    const unknownAddress = createAddress();
    const [firstRpc] = rpcs;
    firstRpc?.injectFault(
      { kind: "hostile", corrupt: (reply) => replacePayer(reply, unknownAddress) },
      { methods: ["eth_getTransactionReceipt"] },
    );
    await chain.transferToken({ to: owner, amount: 4_000_000n, payer: 1 });
    await chain.mine();
    await waitForSteps(owner, 1);
    firstRpc?.clearFaults();
    await chain.mine(finalBlocks + 2);
    await waitForSteps(owner, 2);
    await fetch(`${rig.internalUrl}/internal/republish/settlements`, { method: "POST" });
    await waitForSteps(owner, 3);
    const payers = rig
      .publishedDeposits(owner)
      .map(({ type, deposit }) => `${type} ${deposit.payer}`);
    expect(payers).toEqual([
      `deposit.seen ${unknownAddress}`,
      `deposit.settled ${chain.payers[1]}`,
      `deposit.settled ${chain.payers[1]}`,
    ]);
  });

  test("shows the sender of a payment as both return it, whatever the first one returned before (rule CALLER-42)", async () => {
    await startWatch({ finality: "finalized" }, 2);
    const unknownAddress = createAddress();
    const [firstRpc] = rpcs;
    const link = await rig.receiveNewLink();
    await rig.waitUntilScanned();
    firstRpc?.injectFault(
      { kind: "hostile", corrupt: (reply) => replacePayer(reply, unknownAddress) },
      { methods: ["eth_getTransactionReceipt"] },
    );
    const { paymentReference: reference, destinationAddress: to } = link;
    await chain.pay({ reference, to, amount: 4_000_000n, payer: 1 });
    await chain.mine();
    await rig.waitForPublished(link.id, 1);
    firstRpc?.clearFaults();
    await chain.mine(finalBlocks + 2);
    await rig.waitForStatus(link.id, "settled");
    const payers = rig.publishedPayments(link.id).map(({ payer, status }) => `${status} ${payer}`);
    expect(payers).toEqual([`processing ${unknownAddress}`, `settled ${chain.payers[1]}`]);
  });

  test("is found if the first provider's blooms hide it and the second one returns the logs", async () => {
    await startWatch({ finality: "finalized" }, 2);
    const owner = await createOwner();
    const [firstRpc] = rpcs;
    const paidBlock = (await chain.readHeadNumber()) + 1;
    firstRpc?.injectFault({ kind: "hostile", corrupt: hideLogs(paidBlock) });
    await chain.transferToken({ to: owner, amount: 4_000_000n });
    await chain.mine();
    await rig.waitUntilScanned();
    await chain.mine(finalBlocks + 2);
    // It settles only after two providers agree.
    await waitForSteps(owner, 1);
    expect(listDepositSteps(owner)).toEqual(["deposit.seen 4"]);
  });
});

describe("deposits among many owners and transfers", () => {
  test("are found completely, and nothing else is", async () => {
    await startWatch({ finality: { blocks: 1 } });
    const owners = Array.from({ length: 1_200 }, createAddress);
    await rig.receiveLinks(
      ...owners.map((destinationAddress) => rig.sampleLink({ destinationAddress })),
    );
    await rig.waitUntilScanned();
    const paidOwners = new Set<string>();
    for (let block = 0; block < 20; block += 1) {
      const owner = owners[(block * 59) % owners.length] ?? "";
      paidOwners.add(owner);
      await chain.transferToken({ to: owner, amount: BigInt(block + 1) * 1_000_000n });
      for (let otherService = 0; otherService < 10; otherService += 1) {
        await chain.transferToken({ to: createAddress(), amount: 1_000_000n, payer: 1 });
      }
      await chain.mine();
    }
    await chain.mine(2);
    await waitUntil("all deposits are settled", () =>
      [...paidOwners].every((address) => getDepositStatus(address) === "settled"),
    );
    expect(owners.filter((address) => listDepositSteps(address).length > 0).length).toBe(
      paidOwners.size,
    );
  });
});
