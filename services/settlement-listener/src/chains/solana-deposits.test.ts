import { expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, createWatchRig, startWatchRig } from "../testing/create-watch-rig.ts";
import { finalizedLag, startWatchedSolana, createOrder } from "../testing/start-watched-solana.ts";
import {
  type SolanaOrder,
  freshAddress,
} from "@payment-links/local-chains/solana/start-solana-chain";

const baseUnitsPerToken = 1_000_000n;

const chain = useRig(startWatchedSolana);
const closeAfterTest = closeAfterEach();
let rig: WatchRig;
const startRig = async (
  override: Parameters<typeof createWatchRig>[1] = {},
  urls: readonly string[] = [chain.url],
): Promise<void> => {
  rig = closeAfterTest(await startWatchRig(chain, { findsDeposits: true, ...override }, urls));
};

/** Creates an owner and a link that the listener has received. */
const createOwner = async (destinationAddress: string = freshAddress()): Promise<string> => {
  await rig.receiveNewLink({ destinationAddress });
  await rig.waitUntilScanned();
  return destinationAddress;
};
/** Creates a transfer without a reference. */
const createTransfer = (to: string, overrides: Partial<SolanaOrder> = {}): SolanaOrder => ({
  to,
  amount: baseUnitsPerToken,
  ...overrides,
});

const listSteps = (owner: string) =>
  rig.publishedDeposits(owner).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const waitForSteps = (owner: string, count: number) =>
  waitUntil(`${count} deposit events are published`, () => listSteps(owner).length >= count);
/**
 * Returns the settled deposits. A deposit that is first read in a final block is published only as
 * settled.
 */
const listSettled = (owner: string) =>
  rig.publishedDeposits(owner).filter(({ type }) => type === "deposit.settled");
const waitForSettled = (owner: string, count = 1) =>
  waitUntil(`${count} are settled`, () => listSettled(owner).length >= count);
/**
 * Waits until everything sent so far has settled. Anything that has not been published by then
 * never will be.
 */
const waitUntilProcessed = async (): Promise<void> => {
  const markerOwner = await createOwner();
  await chain.pay(createTransfer(markerOwner));
  chain.mine(finalizedLag + 1);
  await waitForSettled(markerOwner);
};

test("a transfer without a reference is a deposit from its source account's owner, and settles once final (rule CHAIN-20)", async () => {
  await startRig();
  const owner = await createOwner();
  const hash = await chain.pay(createTransfer(owner, { amount: 12_500_000n, payer: 1 }));
  chain.mine();
  await waitForSteps(owner, 1);
  chain.mine(finalizedLag - 1);
  await rig.waitUntilScanned();
  expect(listSteps(owner)).toEqual(["deposit.seen 12.5"]);
  chain.mine();
  await waitForSteps(owner, 2);
  expect(rig.publishedDeposits(owner).map(({ deposit }) => deposit)).toMatchObject(
    ["seen", "settled"].map((status, index) => ({
      id: expect.stringMatching(/^dep_/),
      version: index + 1,
      status,
      amount: "12.5",
      chainId: chain.chainId,
      tokenAddress: chain.tokens.get("usdc")?.mint,
      payer: chain.payers[1],
      sourceTransaction: hash,
    })),
  );
});

test("a deposit has the received amount if the token withholds a fee", async () => {
  await startRig();
  const owner = await createOwner();
  await chain.pay(createTransfer(owner, { token: "fee" }));
  chain.mine(finalizedLag + 1);
  await waitForSettled(owner);
  expect(listSettled(owner).map(({ deposit }) => deposit.amount)).toEqual(["0.99"]);
});

test("tokens minted into the owner's account, for example by a bridge, are a deposit from the fee payer", async () => {
  await startRig();
  const owner = await createOwner();
  await chain.mintTokens(createTransfer(owner));
  chain.mine(finalizedLag + 1);
  await waitForSettled(owner);
  expect(listSettled(owner).map(({ deposit }) => [deposit.amount, deposit.payer])).toEqual([
    ["1", chain.issuer],
  ]);
});

test("no deposit comes from a payment's transfer, a transfer to an unknown address, an owner's transfer to itself, or a failed one", async () => {
  await startRig();
  const link = await rig.receiveNewLink();
  const [owner, selfOwner] = [link.destinationAddress, await createOwner(chain.payers[2])];
  const unknownOwner = freshAddress();
  await chain.pay(createOrder(link));
  // A payment to an address that is no owner's is neither a deposit nor a payment.
  await chain.pay(createOrder(link, { to: unknownOwner, payer: 1 }));
  await chain.pay(createTransfer(unknownOwner));
  await chain.pay(createTransfer(selfOwner, { payer: 2 }));
  await chain.payFailing(createTransfer(owner));
  await chain.payCoin(createTransfer(owner));
  chain.mine();
  await waitUntilProcessed();
  await rig.waitForStatus(link.id, "settled");
  expect([owner, selfOwner, unknownOwner].flatMap(listSteps)).toEqual([]);
  expect(new Set(rig.publishedPayments(link.id).map(({ id }) => id)).size).toBe(1);
});

test("a transfer with an unknown key is not a deposit, and is credited once if its link arrives later (rule CHAIN-20)", async () => {
  await startRig();
  const owner = await createOwner();
  const link = rig.sampleLink({ destinationAddress: owner });
  await chain.pay(createOrder(link));
  await chain.pay(createTransfer(owner, { references: [freshAddress()] }));
  chain.mine();
  await waitUntilProcessed();
  expect(listSteps(owner)).toEqual([]);
  await rig.receiveLinks(link);
  await rig.waitForStatus(link.id, "settled");
  chain.mine(finalizedLag + 1);
  await waitUntilProcessed();
  expect(listSteps(owner)).toEqual([]);
  expect(rig.publishedPayments(link.id).filter(({ status }) => status === "settled")).toHaveLength(
    1,
  );
});

test("deposits next to a payment in one transaction are each credited once, with their own ids", async () => {
  await startRig();
  const link = await rig.receiveNewLink();
  const owner = link.destinationAddress;
  const otherOwner = await createOwner();
  await chain.payInOneTransaction([
    createTransfer(owner),
    createOrder(link, { amount: 5n * baseUnitsPerToken }),
    createTransfer(owner),
    createTransfer(otherOwner, { amount: 3n * baseUnitsPerToken }),
  ]);
  chain.mine(finalizedLag + 1);
  await waitUntilProcessed();
  await waitForSettled(owner, 2);
  await waitForSettled(otherOwner);
  await rig.waitForStatus(link.id, "settled");
  expect(listSettled(owner).map(({ deposit }) => deposit.amount)).toEqual(["1", "1"]);
  expect(new Set(listSettled(owner).map(({ deposit }) => deposit.id)).size).toBe(2);
  expect(listSettled(otherOwner).map(({ deposit }) => deposit.amount)).toEqual(["3"]);
  expect(rig.publishedPayments(link.id).at(-1)?.amount).toBe("5");
});

test("a transfer into another token account of the owner is not a deposit, even if it is found by chance", async () => {
  await startRig();
  const owner = await createOwner();
  const account = await chain.createTokenAccount(owner, "usdc");
  chain.mine();
  await chain.payInOneTransaction([
    createTransfer(owner),
    createTransfer(owner, { account, amount: 2n * baseUnitsPerToken }),
  ]);
  chain.mine();
  await waitUntilProcessed();
  await waitForSettled(owner);
  expect(listSettled(owner).map(({ deposit }) => deposit.amount)).toEqual(["1"]);
});

test("a transfer below the configured minimum, or in a token outside the catalogue, is not reported as a deposit", async () => {
  const usdc = chain.tokens.get("usdc")?.mint ?? "";
  await startRig({ depositMinimums: { [usdc]: new Decimal("0.500001") } });
  const owner = await createOwner();
  await chain.pay(createTransfer(owner, { amount: 500_000n }));
  await chain.pay(createTransfer(owner, { amount: 500_001n }));
  await chain.pay(createTransfer(owner, { token: "other", amount: 50n * baseUnitsPerToken }));
  chain.mine();
  await waitUntilProcessed();
  await waitForSettled(owner);
  expect(listSettled(owner).map(({ deposit }) => deposit.amount)).toEqual(["0.500001"]);
});

test("a minimum for a token that the chain does not have is a configuration error", async () => {
  await startRig();
  const unknownOwner = freshAddress();
  await expect(
    createWatchRig(chain, { depositMinimums: { [unknownOwner]: new Decimal("1") } }),
  ).rejects.toThrow(`not a token on chain ${chain.chainId}`);
});

test("no deposits are reported unless `findsDeposits` is set", async () => {
  await startRig({ findsDeposits: false });
  const link = await rig.receiveNewLink();
  await rig.waitUntilScanned();
  await chain.pay(createTransfer(link.destinationAddress));
  await chain.pay(createOrder(link));
  chain.mine(finalizedLag + 1);
  await rig.waitForStatus(link.id, "settled");
  expect(listSteps(link.destinationAddress)).toEqual([]);
});

test("a deposit that a fork orphans and a later slot contains stays one deposit", async () => {
  await startRig();
  const owner = await createOwner();
  const signedTransaction = await chain.sign([createTransfer(owner)]);
  chain.send(signedTransaction);
  chain.mine();
  await waitForSteps(owner, 1);
  chain.reorg(1);
  chain.mine();
  await rig.waitUntilScanned();
  chain.send(signedTransaction);
  chain.mine(finalizedLag + 1);
  await waitForSteps(owner, 2);
  expect(listSteps(owner)).toEqual(["deposit.seen 1", "deposit.settled 1"]);
  expect(new Set(rig.publishedDeposits(owner).map(({ deposit }) => deposit.id)).size).toBe(1);
});

test("a deposit is orphaned once its transaction can no longer land", async () => {
  await startRig();
  const owner = await createOwner();
  await chain.pay(createTransfer(owner));
  chain.mine();
  await waitForSteps(owner, 1);
  chain.reorg(1);
  chain.mine(160);
  // For the watch, the final block is the newest stored block that is final. It stores only the
  // last block of each step.
  await rig.waitUntilScanned();
  chain.mine(finalizedLag);
  await waitForSteps(owner, 2);
  expect(listSteps(owner)).toEqual(["deposit.seen 1", "deposit.orphaned 1"]);
});

test("a deposit settles only once both of two nodes return it", async () => {
  const secondNode = await chain.startNode();
  await startRig({}, [chain.url, secondNode.url]);
  const owner = await createOwner();
  const signature = await chain.pay(createTransfer(owner));
  secondNode.hideTransaction(signature);
  chain.mine(finalizedLag + 1);
  await waitForSteps(owner, 1);
  chain.mine(2);
  await rig.waitUntilScanned();
  expect(listSteps(owner)).toEqual(["deposit.seen 1"]);
});
