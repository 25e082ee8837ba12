import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { Decimal, tronAddressFromHex } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, createWatchRig, startWatchRig } from "../../testing/create-watch-rig.ts";
import { startTronChain } from "../../testing/tron/start-tron-chain.ts";

const finalizedLag = 4;
const baseUnitsPerToken = 1_000_000n;
const daySeconds = 24 * 60 * 60;

const chain = useRig(() => startTronChain({ finalizedLag }));
const closeAfterTest = closeAfterEach();
let rig: WatchRig;
const startRig = async (override: Parameters<typeof createWatchRig>[1] = {}): Promise<void> => {
  await chain.mine(finalizedLag + 1);
  const settings = { finality: "finalized", findsDeposits: true, ...override } as const;
  rig = closeAfterTest(await startWatchRig(chain, settings));
};

/** The 20 bytes of an account, as transactions name it, and its address as links and deposits have it. */
type Account = { hex: `0x${string}`; address: string };
const toAccount = (hex: `0x${string}`): Account => ({ hex, address: tronAddressFromHex(hex) });
const createAccount = (): Account => toAccount(`0x${randomBytes(20).toString("hex")}`);

/** Who is paid by a link that the listener has heard of. */
const createOwner = async (account = createAccount()): Promise<Account> => {
  await rig.receiveNewLink({ destinationAddress: account.address });
  await rig.waitUntilScanned();
  return account;
};

const listSteps = ({ address }: Account) =>
  rig.publishedDeposits(address).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const waitForSteps = (account: Account, count: number) =>
  waitUntil(`${count} steps are told`, () => listSteps(account).length >= count);
/** What is read in a block that is deep enough is told as settled at once. */
const listSettled = (account: Account) =>
  rig.publishedDeposits(account.address).filter(({ type }) => type === "deposit.settled");
const waitForSettled = (account: Account, count = 1) =>
  waitUntil(`${count} are settled`, () => listSettled(account).length >= count);
/** Until all that stands by now has settled, so that what is not told will not be. */
const waitUntilProcessed = async (): Promise<void> => {
  const markerOwner = await createOwner();
  await chain.transferToken({ to: markerOwner.hex, amount: baseUnitsPerToken });
  await chain.mine(finalizedLag + 1);
  await waitForSettled(markerOwner);
};

test("a transfer that names no link is a deposit, by addresses in Tron's form, and settles once it is solid", async () => {
  await startRig();
  const owner = await createOwner();
  const hash = await chain.transferToken({ to: owner.hex, amount: 12_500_000n, payer: 1 });
  await chain.mine();
  await waitForSteps(owner, 1);
  await chain.mine(finalizedLag - 1);
  await rig.waitUntilScanned();
  expect(listSteps(owner)).toEqual(["deposit.seen 12.5"]);
  await chain.mine();
  await waitForSteps(owner, 2);
  expect(rig.publishedDeposits(owner.address).map(({ deposit }) => deposit)).toMatchObject(
    ["seen", "settled"].map((status, index) => ({
      id: expect.stringMatching(/^dep_/),
      version: index + 1,
      status,
      amount: "12.5",
      chainId: chain.chainId,
      tokenAddress: tronAddressFromHex(chain.getTokenAddress("usdc")),
      payer: tronAddressFromHex(chain.payers[1]),
      sourceTransaction: hash,
    })),
  );
});

test("none is a payment's transfer, a stranger's, or one of the owner to himself", async () => {
  await startRig();
  const owner = await createOwner();
  const selfOwner = await createOwner(toAccount(chain.payers[2]));
  const unknownOwner = createAccount();
  const reference = randomBytes(16).toString("hex");
  await chain.pay({ reference, to: owner.hex, amount: 5n * baseUnitsPerToken });
  await chain.transferToken({ to: unknownOwner.hex, amount: 5n * baseUnitsPerToken });
  await chain.transferToken({ to: selfOwner.hex, amount: 5n * baseUnitsPerToken, payer: 2 });
  await chain.mine();
  await waitUntilProcessed();
  expect([owner, selfOwner, unknownOwner].flatMap(listSteps)).toEqual([]);
});

test("one below the least amount that is set does not show, nor one in a token of no catalogue", async () => {
  const usdc = tronAddressFromHex(chain.getTokenAddress("usdc"));
  await startRig({ depositMinimums: { [usdc]: new Decimal("0.500001") } });
  const owner = await createOwner();
  await chain.transferToken({ to: owner.hex, amount: 500_000n });
  await chain.transferToken({ to: owner.hex, amount: 9_999n, token: "other6" });
  await chain.transferToken({ to: owner.hex, amount: 50n * baseUnitsPerToken, token: "unlisted" });
  await chain.mine();
  await chain.transferToken({ to: owner.hex, amount: 500_001n });
  await chain.transferToken({ to: owner.hex, amount: 10_000n, token: "other6" });
  await chain.mine();
  await waitUntilProcessed();
  const amounts = new Set(listSettled(owner).map(({ deposit }) => deposit.amount));
  expect(amounts).toEqual(new Set(["0.01", "0.500001"]));
});

// Guards money: who sends the wrong token must not be left without any trace of it.
test("one in a look-alike is told, and so is a payment by the proxy (rule CHAIN-27)", async () => {
  await startRig();
  const owner = createAccount();
  const link = await rig.receiveNewLink({ destinationAddress: owner.address });
  await rig.waitUntilScanned();
  const reference = link.paymentReference;
  await chain.transferToken({ to: owner.hex, amount: baseUnitsPerToken, token: "bridged" });
  await chain.pay({
    reference,
    to: owner.hex,
    amount: 2n * baseUnitsPerToken,
    token: "bridged",
    payer: 1,
  });
  await chain.mine(finalizedLag + 1);
  await waitForSettled(owner);
  const tokenAddress = tronAddressFromHex(chain.getTokenAddress("bridged"));
  expect(listSettled(owner).map(({ deposit }) => deposit)).toMatchObject([
    { amount: "1", tokenAddress },
  ]);
  await waitUntil("the payment is settled", () =>
    rig.publishedPayments(link.id).some(({ status }) => status === "settled"),
  );
  expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({ amount: "2", tokenAddress });
});

test("a minimum of what is no token of the chain is a fault of the configuration", async () => {
  await startRig();
  const unknownOwner = tronAddressFromHex(`0x${"11".repeat(20)}`);
  await expect(
    createWatchRig(chain, { depositMinimums: { [unknownOwner]: new Decimal("1") } }),
  ).rejects.toThrow(`no token of chain ${chain.chainId}`);
});

test("none is looked for where that is not turned on", async () => {
  await startRig({ findsDeposits: false });
  const owner = createAccount();
  const link = await rig.receiveNewLink({ destinationAddress: owner.address });
  await rig.waitUntilScanned();
  await chain.transferToken({ to: owner.hex, amount: baseUnitsPerToken });
  await chain.pay({ reference: link.paymentReference, to: owner.hex, amount: 1n });
  await chain.mine(finalizedLag + 1);
  await rig.waitForStatus(link.id, "settled");
  expect(listSteps(owner)).toEqual([]);
});

test("several in one transaction are each told, also beside one another of the same amount", async () => {
  await startRig();
  const [owner, otherOwner] = [await createOwner(), await createOwner()];
  const orders = [owner, owner, otherOwner].map(({ hex: to }) => ({
    reference: randomBytes(16).toString("hex"),
    to,
    amount: baseUnitsPerToken,
  }));
  await chain.payBySuffixInOneTransaction(orders);
  await chain.mine(finalizedLag + 1);
  await waitUntilProcessed();
  await waitForSettled(owner, 2);
  await waitForSettled(otherOwner);
  const settledDeposits = [owner, otherOwner].map(listSettled);
  expect(settledDeposits.map(({ length }) => length)).toEqual([2, 1]);
  expect(new Set(settledDeposits.flat().map(({ deposit }) => deposit.id)).size).toBe(3);
});

test("one that a fork moves to another block stays one deposit", async () => {
  await startRig();
  const owner = await createOwner();
  const hash = await chain.transferToken({ to: owner.hex, amount: 7n * baseUnitsPerToken });
  await chain.mine();
  await waitForSteps(owner, 1);
  const raw = await chain.readRawTransaction(hash);
  await chain.mine();
  await chain.reorg(2, [{ raw, offset: 1 }]);
  await chain.mine(finalizedLag + 1);
  await waitForSteps(owner, 2);
  expect(listSteps(owner)).toEqual(["deposit.seen 7", "deposit.settled 7"]);
  expect(new Set(rig.publishedDeposits(owner.address).map(({ deposit }) => deposit.id)).size).toBe(
    1,
  );
});

test("one that a fork took away is orphaned once a solid block is a day later", async () => {
  await startRig();
  const owner = await createOwner();
  await chain.transferToken({ to: owner.hex, amount: 7n * baseUnitsPerToken });
  await chain.mine();
  await waitForSteps(owner, 1);
  await rig.waitUntilScanned();
  await chain.reorg(1);
  const { timestamp } = await chain.client.getBlock();
  await chain.setNextBlockTime(Number(timestamp) + daySeconds + 60);
  await chain.mine(finalizedLag + 2);
  await waitForSteps(owner, 2);
  expect(listSteps(owner)).toEqual(["deposit.seen 7", "deposit.orphaned 7"]);
});

test("among more owners than a node takes in one question every deposit is found", async () => {
  await startRig();
  const owners = Array.from({ length: 1_200 }, createAccount);
  const links = owners.map(({ address }) => rig.sampleLink({ destinationAddress: address }));
  await rig.receiveLinks(...links);
  await rig.waitUntilScanned();
  const paidOwners = [0, 599, 1_199].map((index) => owners[index] ?? createAccount());
  for (const { hex } of paidOwners)
    await chain.transferToken({ to: hex, amount: baseUnitsPerToken });
  await chain.mine(finalizedLag + 1);
  for (const paidOwner of paidOwners) await waitForSettled(paidOwner);
  expect(owners.filter((paidOwner) => listSteps(paidOwner).length > 0)).toEqual(paidOwners);
});
