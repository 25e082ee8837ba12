import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Decimal, toEip55 } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createSettlementListener } from "../service.ts";
import { recordTransfers } from "../sightings/record-transfers.ts";
import { hideLogs } from "../testing/hide-logs.ts";
import { openChain } from "../testing/open-chain.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { type ScriptedRpc, openScriptedRpc } from "../testing/scripted-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
let rig: WatchRig;
const rpcs: ScriptedRpc[] = [];
const open = async (
  override: Parameters<typeof openWatchRig>[1] = {},
  providerCount = 0,
): Promise<void> => {
  await chain.mine(finalBlocks + 1);
  for (let opened = 0; opened < providerCount; opened += 1) {
    rpcs.push(await openScriptedRpc({ target: chain.url }));
  }
  const urls = rpcs.length === 0 ? [chain.url] : rpcs.map(({ url }) => url);
  rig = await openWatchRig(
    chain,
    { finality: { blocks: 3 }, findsDeposits: true, ...override },
    urls,
  );
  await rig.service.start();
};
afterEach(async () => {
  await rig.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const newAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);

/** An owner whose address no other test uses, by a link that the listener has heard of. */
const openOwner = async (): Promise<string> => {
  const destinationAddress = newAddress();
  await rig.hearNew({ destinationAddress });
  await rig.caughtUp();
  return destinationAddress;
};

const stepsOf = (address: string) =>
  rig.deposits(address).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const statusOf = (address: string) => rig.deposits(address).at(-1)?.deposit.status;
const becomes = (address: string, status: string) =>
  waitUntil(`it is ${status}`, () => statusOf(address) === status);
const told = (address: string, count: number) =>
  waitUntil(`${count} steps are told`, () => stepsOf(address).length >= count);
/** Until all that stands by now has settled, so that what is not told will not be. */
const passBy = async (): Promise<void> => {
  const marker = await openOwner();
  await chain.give({ to: marker, amount: 1_000_000n });
  await chain.mine(4);
  await becomes(marker, "settled");
};

describe("a transfer that names no link (rule CHAIN-20)", () => {
  test("is a deposit, seen once it is mined and settled by the chain's policy", async () => {
    await open();
    const owner = await openOwner();
    const hash = await chain.give({ to: owner, amount: 12_500_000n, payer: 1 });
    await chain.mine();
    await told(owner, 1);
    await chain.mine(2);
    await rig.caughtUp();
    expect(stepsOf(owner)).toEqual(["deposit.seen 12.5"]);
    await chain.mine();
    await told(owner, 2);
    expect(stepsOf(owner)).toEqual(["deposit.seen 12.5", "deposit.settled 12.5"]);
    const [seen, settled] = rig.deposits(owner);
    expect(settled?.deposit).toEqual({
      ...seen?.deposit,
      id: expect.stringMatching(/^dep_/),
      version: 2,
      status: "settled",
      chainId: chain.chainId,
      tokenAddress: toEip55(chain.addressOf("usdc")),
      payer: chain.payers[1],
      sourceTransaction: hash,
    });
  });

  test("is none where a payment of the same receipt is made of it, or nobody's link is paid there", async () => {
    await open();
    const owner = await openOwner();
    const stranger = newAddress();
    const reference = randomBytes(16).toString("hex");
    await chain.pay({ reference, to: owner, amount: 5_000_000n });
    await chain.give({ to: stranger, amount: 5_000_000n });
    await passBy();
    expect(stepsOf(owner)).toEqual([]);
    expect(stepsOf(stranger)).toEqual([]);
  });

  test("does not show below the least amount that is set, or in a token of no catalogue", async () => {
    const usdc = toEip55(chain.addressOf("usdc"));
    await open({ depositMinimums: { [usdc]: new Decimal("2.000001") } });
    const owner = await openOwner();
    const markerOwner = await openOwner();
    await chain.give({ to: owner, amount: 2_000_000n });
    await chain.give({ to: owner, amount: 0n });
    await chain.give({ to: owner, amount: 9_999n, token: "other6" });
    await chain.give({ to: owner, amount: 50_000_000n, token: "unlisted" });
    await chain.mine();
    await chain.give({ to: owner, amount: 2_000_001n });
    await chain.give({ to: owner, amount: 10_000n, token: "other6" });
    await chain.give({ to: markerOwner, amount: 3_000_000n });
    await chain.mine(4);
    await becomes(markerOwner, "settled");
    const settled = stepsOf(owner).filter((step) => step.startsWith("deposit.settled"));
    expect(settled.toSorted()).toEqual(["deposit.settled 0.01", "deposit.settled 2.000001"]);
  });

  test("is not looked for where that is turned off", async () => {
    await open({ findsDeposits: false });
    const owner = newAddress();
    const link = await rig.hearNew({ destinationAddress: owner });
    await rig.caughtUp();
    await chain.give({ to: owner, amount: 1_000_000n });
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 1n });
    await chain.mine(4);
    await waitUntil("the payment is settled", () => rig.told(link.id).at(-1)?.status === "settled");
    expect(stepsOf(owner)).toEqual([]);
  });

  // The number is what one step looks through.
  test("that is not looked for any more holds up no payment, however many of them wait", async () => {
    await open({ findsDeposits: false });
    const link = await rig.hearNew();
    await rig.caughtUp();
    const waiting = Array.from({ length: 10_000 }, () =>
      sampleTransfer({ chainId: chain.chainId, blockNumber: 1, payer: newAddress() }),
    );
    await transact(rig.pool, (tx) => recordTransfers(tx, waiting, new Date()));
    const { paymentReference: reference, destinationAddress } = link;
    await chain.pay({ reference, to: destinationAddress, amount: 3_000_000n });
    await chain.mine(4);
    await waitUntil("the payment is settled", () => rig.statuses(link.id).includes("settled 3"));
  });

  test.each<[string, { findsDeposits?: boolean; least?: Decimal }]>([
    ["deposits are turned off", { findsDeposits: false }],
    ["more is asked for", { least: new Decimal(5) }],
  ])("that was seen is not taken away where %s meanwhile", async (_, { least, ...more }) => {
    await open({ finality: "finalized" });
    const usdc = toEip55(chain.addressOf("usdc"));
    const change = { ...more, ...(least && { depositMinimums: { [usdc]: least } }) };
    const owner = await openOwner();
    await chain.give({ to: owner, amount: 1_000_000n });
    await chain.mine();
    await told(owner, 1);
    await rig.service.stop();
    const overrides = Object.entries(rig.config.chainOverrides).map(
      ([id, one]) => [id, { ...one, ...change }] as const,
    );
    const other = createSettlementListener(
      { ...rig.ground, metrics: openMetrics("other") },
      { ...rig.config, chainOverrides: Object.fromEntries(overrides) },
    );
    await other.start();
    await chain.mine(finalBlocks + 2);
    await rig.caughtUp();
    // Before it scans what follows it judges what is due.
    await chain.mine();
    await rig.caughtUp();
    await other.stop();
    expect(stepsOf(owner)).not.toContain("deposit.orphaned 1");
  });

  test("stays one deposit where a reorg moves it to another block (rule CHAIN-21)", async () => {
    await open();
    const owner = await openOwner();
    const hash = await chain.give({ to: owner, amount: 7_000_000n });
    await chain.mine();
    await told(owner, 1);
    const raw = await chain.rawOf(hash);
    await chain.mine();
    await chain.reorg(2, [{ raw, offset: 1 }]);
    await chain.mine(4);
    await told(owner, 2);
    expect(stepsOf(owner)).toEqual(["deposit.seen 7", "deposit.settled 7"]);
    expect(new Set(rig.deposits(owner).map(({ deposit }) => deposit.id)).size).toBe(1);
  });

  test("is taken away where its transaction can never be mined again", async () => {
    await open({ finality: "finalized" });
    const owner = await openOwner();
    await chain.give({ to: owner, amount: 7_000_000n });
    await chain.mine();
    await told(owner, 1);
    await chain.reorg(1);
    // It uses the sender's nonce.
    await chain.give({ to: newAddress(), amount: 1n });
    await chain.mine(finalBlocks + 2);
    await told(owner, 2);
    expect(stepsOf(owner)).toEqual(["deposit.seen 7", "deposit.orphaned 7"]);
    expect(rig.deposits(owner).at(-1)?.deposit.status).toBe("orphaned");
  });

  test("is told as orphaned where a reorg takes it away after it settled, and as settled where it comes back", async () => {
    await open({ finality: { blocks: 1 } });
    const owner = await openOwner();
    const hash = await chain.give({ to: owner, amount: 3_000_000n });
    await chain.mine();
    await told(owner, 1);
    await chain.mine();
    await becomes(owner, "settled");
    const raw = await chain.rawOf(hash);
    await chain.reorg(2);
    await becomes(owner, "orphaned");
    await chain.reorg(1, [{ raw, offset: 0 }]);
    await chain.mine(3);
    await becomes(owner, "settled");
    expect(
      rig.deposits(owner).map(({ deposit }) => `${deposit.status} v${deposit.version}`),
    ).toEqual(["seen v1", "settled v2", "orphaned v3", "settled v4"]);
  });

  test("settles in another process than the one that saw it", async () => {
    await open();
    const owner = await openOwner();
    await chain.give({ to: owner, amount: 1_000_000n });
    await chain.mine();
    await told(owner, 1);
    await rig.service.stop();
    await chain.mine(3);
    const other = createSettlementListener(
      { ...rig.ground, metrics: openMetrics("other") },
      rig.config,
    );
    await other.start();
    await told(owner, 2);
    await other.stop();
    expect(stepsOf(owner)).toEqual(["deposit.seen 1", "deposit.settled 1"]);
  });
});

test("an operator's rescan finds a deposit beside one that is known, to who became an owner since (rule CHAIN-21)", async () => {
  await open();
  const owner = await openOwner();
  const later = newAddress();
  const toBoth = [owner, later].map((to) => ({
    reference: randomBytes(16).toString("hex"),
    to,
    amount: 1_000_000n,
  }));
  // From a contract: of what it calls nobody reads a reference.
  await chain.payBySuffixTogether(toBoth);
  const at = (await chain.headNumber()) + 1;
  await chain.mine(finalBlocks + 2);
  await becomes(owner, "settled");
  await rig.hearNew({ destinationAddress: later });
  const answer = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: chain.chainId, fromBlock: at, toBlock: at }),
  });
  expect(answer.status).toBe(202);
  await becomes(later, "settled");
  const settled = [owner, later].map((one) =>
    stepsOf(one).filter((step) => step === "deposit.settled 1"),
  );
  expect(settled.map(({ length }) => length)).toEqual([1, 1]);
});

/** The same receipts, whose tokens moved from another address. */
const nameOtherPayer = (reply: unknown, payer: string): string =>
  JSON.stringify(reply, (key, value: unknown) => {
    if (key !== "topics" || !Array.isArray(value) || value.length !== 3) return value;
    const [event, , to] = value as string[];
    return [event, `0x${"0".repeat(24)}${payer.slice(2).toLowerCase()}`, to];
  });

describe("with two providers a deposit", () => {
  test("settles by the word of both, and is found by the second look where the first left it out", async () => {
    await open({ finality: "finalized" }, 2);
    const owner = await openOwner();
    const [first] = rpcs;
    const empty = first?.play({ kind: "empty_logs" });
    await chain.give({ to: owner, amount: 4_000_000n });
    await chain.mine();
    await rig.caughtUp();
    expect(stepsOf(owner)).toEqual([]);
    empty?.stop();
    await chain.mine(finalBlocks + 2);
    await told(owner, 2);
    expect(stepsOf(owner)).toEqual(["deposit.seen 4", "deposit.settled 4"]);
  });

  // It is shown to the owner as who paid, and a refund would go there.
  test("is told with the payer that both tell, whoever the first named before, also when it is told again", async () => {
    await open({ finality: "finalized" }, 2);
    const owner = await openOwner();
    const stranger = newAddress();
    const [first] = rpcs;
    first?.play(
      { kind: "hostile", spoil: (reply) => nameOtherPayer(reply, stranger) },
      { methods: ["eth_getTransactionReceipt"] },
    );
    await chain.give({ to: owner, amount: 4_000_000n, payer: 1 });
    await chain.mine();
    await told(owner, 1);
    first?.heal();
    await chain.mine(finalBlocks + 2);
    await told(owner, 2);
    await fetch(`${rig.internalUrl}/internal/republish/settlements`, { method: "POST" });
    await told(owner, 3);
    const payers = rig.deposits(owner).map(({ type, deposit }) => `${type} ${deposit.payer}`);
    expect(payers).toEqual([
      `deposit.seen ${stranger}`,
      `deposit.settled ${chain.payers[1]}`,
      `deposit.settled ${chain.payers[1]}`,
    ]);
  });

  test("is found where the first one's blooms hide it and the second one gives the logs", async () => {
    await open({ finality: "finalized" }, 2);
    const owner = await openOwner();
    const [first] = rpcs;
    const paidIn = (await chain.headNumber()) + 1;
    first?.play({ kind: "hostile", spoil: hideLogs(paidIn) });
    await chain.give({ to: owner, amount: 4_000_000n });
    await chain.mine();
    await rig.caughtUp();
    await chain.mine(finalBlocks + 2);
    // Two must say the same before it settles.
    await told(owner, 1);
    expect(stepsOf(owner)).toEqual(["deposit.seen 4"]);
  });
});

describe("among many owners and transfers", () => {
  test("every deposit is found, and nothing else", async () => {
    await open({ finality: { blocks: 1 } });
    const owners = Array.from({ length: 1_200 }, newAddress);
    await rig.hear(...owners.map((destinationAddress) => rig.sampleLink({ destinationAddress })));
    await rig.caughtUp();
    const ours = new Set<string>();
    for (let block = 0; block < 20; block += 1) {
      const owner = owners[(block * 59) % owners.length] ?? "";
      ours.add(owner);
      await chain.give({ to: owner, amount: BigInt(block + 1) * 1_000_000n });
      for (let other = 0; other < 10; other += 1) {
        await chain.give({ to: newAddress(), amount: 1_000_000n, payer: 1 });
      }
      await chain.mine();
    }
    await chain.mine(2);
    await waitUntil("all are settled", () => [...ours].every((one) => statusOf(one) === "settled"));
    expect(owners.filter((one) => stepsOf(one).length > 0).length).toBe(ours.size);
  });
});
