import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { Decimal } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, type createWatchRig, startWatchRig } from "../testing/create-watch-rig.ts";
import { startTronChain } from "@payment-links/local-chains/tron/start-tron-chain";

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

/**
 * An account. `hex` is the 20-byte form that transactions use, and `address` is the base58check
 * form that links and deposits use.
 */
type Account = { hex: `0x${string}`; address: string };
const toAccount = (hex: `0x${string}`): Account => ({ hex, address: tronAddressFromHex(hex) });
const createAccount = (): Account => toAccount(`0x${randomBytes(20).toString("hex")}`);

/** Creates an owner and a link that the listener has received. */
const createOwner = async (account = createAccount()): Promise<Account> => {
  await rig.receiveNewLink({ destinationAddress: account.address });
  await rig.waitUntilScanned();
  return account;
};

const listSteps = ({ address }: Account) =>
  rig.publishedDeposits(address).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const waitForSteps = (account: Account, count: number) =>
  waitUntil(`${count} deposit events are published`, () => listSteps(account).length >= count);
/**
 * Returns the settled deposits. A deposit that is first read in a final block is published only as
 * settled.
 */
const listSettled = (account: Account) =>
  rig.publishedDeposits(account.address).filter(({ type }) => type === "deposit.settled");
const waitForSettled = (account: Account, count = 1) =>
  waitUntil(`${count} are settled`, () => listSettled(account).length >= count);
/**
 * Waits until everything sent so far has settled. Anything that has not been published by then
 * never will be.
 */
const waitUntilProcessed = async (): Promise<void> => {
  const markerOwner = await createOwner();
  await chain.transferToken({ to: markerOwner.hex, amount: baseUnitsPerToken });
  await chain.mine(finalizedLag + 1);
  await waitForSettled(markerOwner);
};

test("a transfer without a link is a deposit with Tron addresses, and settles once it is solid", async () => {
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

test("no deposit comes from a payment's transfer, a transfer to an unknown address, or an owner's transfer to itself", async () => {
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

test("a transfer below the configured minimum, or in a token outside the catalogue, is not reported as a deposit", async () => {
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

// Guards against missing payments in the wrong token.
test("a deposit in a look-alike is published, and so is a payment through the proxy (rule CHAIN-27)", async () => {
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

test("an orphaned deposit is published as orphaned once a solid block is a day later", async () => {
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

test("every deposit is found even with more owners than a node accepts in one request", async () => {
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
