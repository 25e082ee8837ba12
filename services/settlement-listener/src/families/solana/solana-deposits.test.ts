import { expect, test } from "@jest/globals";
import { Decimal } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, openWatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import { finalizedLag, openWatchedSolana, orderOf } from "../../testing/open-watched-solana.ts";
import { type SolanaOrder, freshAddress } from "../../testing/solana/open-solana-chain.ts";

const unit = 1_000_000n;

const chain = useRig(openWatchedSolana);
const keep = closeAfterEach();
let rig: WatchRig;
const open = async (
  override: Parameters<typeof openWatchRig>[1] = {},
  urls: readonly string[] = [chain.url],
): Promise<void> => {
  rig = keep(await startWatchRig(chain, { findsDeposits: true, ...override }, urls));
};

/** Who is paid by a link that the listener has heard of. */
const openOwner = async (destinationAddress: string = freshAddress()): Promise<string> => {
  await rig.hearNew({ destinationAddress });
  await rig.caughtUp();
  return destinationAddress;
};
/** A transfer without a reference. */
const give = (to: string, change: Partial<SolanaOrder> = {}): SolanaOrder => ({
  to,
  amount: unit,
  ...change,
});

const stepsOf = (owner: string) =>
  rig.deposits(owner).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const told = (owner: string, count: number) =>
  waitUntil(`${count} steps are told`, () => stepsOf(owner).length >= count);
/** What is read in a block that is deep enough is told as settled at once. */
const settledOf = (owner: string) =>
  rig.deposits(owner).filter(({ type }) => type === "deposit.settled");
const settled = (owner: string, count = 1) =>
  waitUntil(`${count} are settled`, () => settledOf(owner).length >= count);
/** Until all that stands by now has settled, so that what is not told will not be. */
const passBy = async (): Promise<void> => {
  const marker = await openOwner();
  await chain.pay(give(marker));
  chain.mine(finalizedLag + 1);
  await settled(marker);
};

test("a transfer that names no reference is a deposit of whose account it left, and settles once final (rule CHAIN-20)", async () => {
  await open();
  const owner = await openOwner();
  const hash = await chain.pay(give(owner, { amount: 12_500_000n, payer: 1 }));
  chain.mine();
  await told(owner, 1);
  chain.mine(finalizedLag - 1);
  await rig.caughtUp();
  expect(stepsOf(owner)).toEqual(["deposit.seen 12.5"]);
  chain.mine();
  await told(owner, 2);
  expect(rig.deposits(owner).map(({ deposit }) => deposit)).toMatchObject(
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

test("what arrived counts, where the token withholds a fee", async () => {
  await open();
  const owner = await openOwner();
  await chain.pay(give(owner, { token: "fee" }));
  chain.mine(finalizedLag + 1);
  await settled(owner);
  expect(settledOf(owner).map(({ deposit }) => deposit.amount)).toEqual(["0.99"]);
});

test("what is made in the owner's account, as by a bridge, is a deposit of who paid the fee", async () => {
  await open();
  const owner = await openOwner();
  await chain.mint(give(owner));
  chain.mine(finalizedLag + 1);
  await settled(owner);
  expect(settledOf(owner).map(({ deposit }) => [deposit.amount, deposit.payer])).toEqual([
    ["1", chain.issuer],
  ]);
});

test("none is a payment's transfer, a stranger's, one of the owner to himself, or one that failed", async () => {
  await open();
  const link = await rig.hearNew();
  const [owner, self] = [link.destinationAddress, await openOwner(chain.payers[2])];
  const stranger = freshAddress();
  await chain.pay(orderOf(link));
  await chain.pay(give(stranger));
  await chain.pay(give(self, { payer: 2 }));
  await chain.payFailing(give(owner));
  await chain.payCoin(give(owner));
  chain.mine();
  await passBy();
  await rig.waitStatus(link.id, "settled");
  expect([owner, self, stranger].flatMap(stepsOf)).toEqual([]);
});

test("one with a key of its own is none, and is credited once where its link is heard of later (rule CHAIN-20)", async () => {
  await open();
  const owner = await openOwner();
  const link = rig.sampleLink({ destinationAddress: owner });
  await chain.pay(orderOf(link));
  await chain.pay(give(owner, { references: [freshAddress()] }));
  chain.mine();
  await passBy();
  expect(stepsOf(owner)).toEqual([]);
  await rig.hear(link);
  await rig.waitStatus(link.id, "settled");
  chain.mine(finalizedLag + 1);
  await passBy();
  expect(stepsOf(owner)).toEqual([]);
  expect(rig.told(link.id).filter(({ status }) => status === "settled")).toHaveLength(1);
});

test("beside a payment in the same transaction each sum counts once, and each deposit has its own number", async () => {
  await open();
  const link = await rig.hearNew();
  const owner = link.destinationAddress;
  const other = await openOwner();
  await chain.payTogether([
    give(owner),
    orderOf(link, { amount: 5n * unit }),
    give(owner),
    give(other, { amount: 3n * unit }),
  ]);
  chain.mine(finalizedLag + 1);
  await passBy();
  await settled(owner, 2);
  await settled(other);
  await rig.waitStatus(link.id, "settled");
  expect(settledOf(owner).map(({ deposit }) => deposit.amount)).toEqual(["1", "1"]);
  expect(new Set(settledOf(owner).map(({ deposit }) => deposit.id)).size).toBe(2);
  expect(settledOf(other).map(({ deposit }) => deposit.amount)).toEqual(["3"]);
  expect(rig.told(link.id).at(-1)?.amount).toBe("5");
});

test("one into another token account of the owner's is none, also where it is found by chance", async () => {
  await open();
  const owner = await openOwner();
  const account = await chain.openAccount(owner, "usdc");
  chain.mine();
  await chain.payTogether([give(owner), give(owner, { account, amount: 2n * unit })]);
  chain.mine();
  await passBy();
  await settled(owner);
  expect(settledOf(owner).map(({ deposit }) => deposit.amount)).toEqual(["1"]);
});

test("one below the least amount that is set does not show, nor one in a token of no catalogue", async () => {
  const usdc = chain.tokens.get("usdc")?.mint ?? "";
  await open({ depositMinimums: { [usdc]: new Decimal("0.500001") } });
  const owner = await openOwner();
  await chain.pay(give(owner, { amount: 500_000n }));
  await chain.pay(give(owner, { amount: 500_001n }));
  await chain.pay(give(owner, { token: "other", amount: 50n * unit }));
  chain.mine();
  await passBy();
  await settled(owner);
  expect(settledOf(owner).map(({ deposit }) => deposit.amount)).toEqual(["0.500001"]);
});

test("a minimum of what is no token of the chain is a fault of the configuration", async () => {
  await open();
  const stranger = freshAddress();
  await expect(
    openWatchRig(chain, { depositMinimums: { [stranger]: new Decimal("1") } }),
  ).rejects.toThrow(`no token of chain ${chain.chainId}`);
});

test("none is looked for where that is not turned on", async () => {
  await open({ findsDeposits: false });
  const link = await rig.hearNew();
  await rig.caughtUp();
  await chain.pay(give(link.destinationAddress));
  await chain.pay(orderOf(link));
  chain.mine(finalizedLag + 1);
  await rig.waitStatus(link.id, "settled");
  expect(stepsOf(link.destinationAddress)).toEqual([]);
});

test("one that a fork took away and a later slot holds stays one deposit", async () => {
  await open();
  const owner = await openOwner();
  const signed = await chain.sign([give(owner)]);
  chain.send(signed);
  chain.mine();
  await told(owner, 1);
  chain.reorg(1);
  chain.mine();
  await rig.caughtUp();
  chain.send(signed);
  chain.mine(finalizedLag + 1);
  await told(owner, 2);
  expect(stepsOf(owner)).toEqual(["deposit.seen 1", "deposit.settled 1"]);
  expect(new Set(rig.deposits(owner).map(({ deposit }) => deposit.id)).size).toBe(1);
});

test("one whose transaction can land no more is orphaned", async () => {
  await open();
  const owner = await openOwner();
  await chain.pay(give(owner));
  chain.mine();
  await told(owner, 1);
  chain.reorg(1);
  chain.mine(160);
  // What is final is the newest block that the watch has kept: the last of a step.
  await rig.caughtUp();
  chain.mine(finalizedLag);
  await told(owner, 2);
  expect(stepsOf(owner)).toEqual(["deposit.seen 1", "deposit.orphaned 1"]);
});

test("of two nodes both must tell it before it settles", async () => {
  const second = await chain.openNode();
  await open({}, [chain.url, second.url]);
  const owner = await openOwner();
  const signature = await chain.pay(give(owner));
  second.forget(signature);
  chain.mine(finalizedLag + 1);
  await told(owner, 1);
  chain.mine(2);
  await rig.caughtUp();
  expect(stepsOf(owner)).toEqual(["deposit.seen 1"]);
});
