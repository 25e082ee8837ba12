import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { Decimal, tronFromHex } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { type WatchRig, openWatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import { openTronChain } from "../../testing/tron/open-tron-chain.ts";

const finalizedLag = 4;
const unit = 1_000_000n;
const daySeconds = 24 * 60 * 60;

const chain = useRig(() => openTronChain({ finalizedLag }));
const keep = closeAfterEach();
let rig: WatchRig;
const open = async (override: Parameters<typeof openWatchRig>[1] = {}): Promise<void> => {
  await chain.mine(finalizedLag + 1);
  const settings = { finality: "finalized", findsDeposits: true, ...override } as const;
  rig = keep(await startWatchRig(chain, settings));
};

/** The 20 bytes of an account, as transactions name it, and its address as links and deposits have it. */
type Account = { hex: `0x${string}`; address: string };
const accountOf = (hex: `0x${string}`): Account => ({ hex, address: tronFromHex(hex) });
const newAccount = (): Account => accountOf(`0x${randomBytes(20).toString("hex")}`);

/** Who is paid by a link that the listener has heard of. */
const openOwner = async (account = newAccount()): Promise<Account> => {
  await rig.hearNew({ destinationAddress: account.address });
  await rig.caughtUp();
  return account;
};

const stepsOf = ({ address }: Account) =>
  rig.deposits(address).map(({ type, deposit }) => `${type} ${deposit.amount}`);
const told = (account: Account, count: number) =>
  waitUntil(`${count} steps are told`, () => stepsOf(account).length >= count);
/** What is read in a block that is deep enough is told as settled at once. */
const settledOf = (account: Account) =>
  rig.deposits(account.address).filter(({ type }) => type === "deposit.settled");
const settled = (account: Account, count = 1) =>
  waitUntil(`${count} are settled`, () => settledOf(account).length >= count);
/** Until all that stands by now has settled, so that what is not told will not be. */
const passBy = async (): Promise<void> => {
  const marker = await openOwner();
  await chain.give({ to: marker.hex, amount: unit });
  await chain.mine(finalizedLag + 1);
  await settled(marker);
};

test("a transfer that names no link is a deposit, by addresses in Tron's form, and settles once it is solid", async () => {
  await open();
  const owner = await openOwner();
  const hash = await chain.give({ to: owner.hex, amount: 12_500_000n, payer: 1 });
  await chain.mine();
  await told(owner, 1);
  await chain.mine(finalizedLag - 1);
  await rig.caughtUp();
  expect(stepsOf(owner)).toEqual(["deposit.seen 12.5"]);
  await chain.mine();
  await told(owner, 2);
  expect(rig.deposits(owner.address).map(({ deposit }) => deposit)).toMatchObject(
    ["seen", "settled"].map((status, index) => ({
      id: expect.stringMatching(/^dep_/),
      version: index + 1,
      status,
      amount: "12.5",
      chainId: chain.chainId,
      tokenAddress: tronFromHex(chain.addressOf("usdc")),
      payer: tronFromHex(chain.payers[1]),
      sourceTransaction: hash,
    })),
  );
});

test("none is a payment's transfer, a stranger's, or one of the owner to himself", async () => {
  await open();
  const owner = await openOwner();
  const self = await openOwner(accountOf(chain.payers[2]));
  const stranger = newAccount();
  const reference = randomBytes(16).toString("hex");
  await chain.pay({ reference, to: owner.hex, amount: 5n * unit });
  await chain.give({ to: stranger.hex, amount: 5n * unit });
  await chain.give({ to: self.hex, amount: 5n * unit, payer: 2 });
  await chain.mine();
  await passBy();
  expect([owner, self, stranger].flatMap(stepsOf)).toEqual([]);
});

test("one below the least amount that is set does not show, nor one in a token of no catalogue", async () => {
  const usdc = tronFromHex(chain.addressOf("usdc"));
  await open({ depositMinimums: { [usdc]: new Decimal("0.500001") } });
  const owner = await openOwner();
  await chain.give({ to: owner.hex, amount: 500_000n });
  await chain.give({ to: owner.hex, amount: 9_999n, token: "other6" });
  await chain.give({ to: owner.hex, amount: 50n * unit, token: "unlisted" });
  await chain.mine();
  await chain.give({ to: owner.hex, amount: 500_001n });
  await chain.give({ to: owner.hex, amount: 10_000n, token: "other6" });
  await chain.mine();
  await passBy();
  const amounts = new Set(settledOf(owner).map(({ deposit }) => deposit.amount));
  expect(amounts).toEqual(new Set(["0.01", "0.500001"]));
});

// Guards money: who sends the wrong token must not be left without any trace of it.
test("one in a look-alike is told, and so is a payment by the proxy (rule CHAIN-27)", async () => {
  await open();
  const owner = newAccount();
  const link = await rig.hearNew({ destinationAddress: owner.address });
  await rig.caughtUp();
  const reference = link.paymentReference;
  await chain.give({ to: owner.hex, amount: unit, token: "bridged" });
  await chain.pay({ reference, to: owner.hex, amount: 2n * unit, token: "bridged", payer: 1 });
  await chain.mine(finalizedLag + 1);
  await settled(owner);
  const tokenAddress = tronFromHex(chain.addressOf("bridged"));
  expect(settledOf(owner).map(({ deposit }) => deposit)).toMatchObject([
    { amount: "1", tokenAddress },
  ]);
  await waitUntil("the payment is settled", () =>
    rig.told(link.id).some(({ status }) => status === "settled"),
  );
  expect(rig.told(link.id).at(-1)).toMatchObject({ amount: "2", tokenAddress });
});

test("a minimum of what is no token of the chain is a fault of the configuration", async () => {
  await open();
  const stranger = tronFromHex(`0x${"11".repeat(20)}`);
  await expect(
    openWatchRig(chain, { depositMinimums: { [stranger]: new Decimal("1") } }),
  ).rejects.toThrow(`no token of chain ${chain.chainId}`);
});

test("none is looked for where that is not turned on", async () => {
  await open({ findsDeposits: false });
  const owner = newAccount();
  const link = await rig.hearNew({ destinationAddress: owner.address });
  await rig.caughtUp();
  await chain.give({ to: owner.hex, amount: unit });
  await chain.pay({ reference: link.paymentReference, to: owner.hex, amount: 1n });
  await chain.mine(finalizedLag + 1);
  await rig.waitStatus(link.id, "settled");
  expect(stepsOf(owner)).toEqual([]);
});

test("several in one transaction are each told, also beside one another of the same amount", async () => {
  await open();
  const [owner, other] = [await openOwner(), await openOwner()];
  const orders = [owner, owner, other].map(({ hex: to }) => ({
    reference: randomBytes(16).toString("hex"),
    to,
    amount: unit,
  }));
  await chain.payBySuffixTogether(orders);
  await chain.mine(finalizedLag + 1);
  await passBy();
  await settled(owner, 2);
  await settled(other);
  const found = [owner, other].map(settledOf);
  expect(found.map(({ length }) => length)).toEqual([2, 1]);
  expect(new Set(found.flat().map(({ deposit }) => deposit.id)).size).toBe(3);
});

test("one that a fork moves to another block stays one deposit", async () => {
  await open();
  const owner = await openOwner();
  const hash = await chain.give({ to: owner.hex, amount: 7n * unit });
  await chain.mine();
  await told(owner, 1);
  const raw = await chain.rawOf(hash);
  await chain.mine();
  await chain.reorg(2, [{ raw, offset: 1 }]);
  await chain.mine(finalizedLag + 1);
  await told(owner, 2);
  expect(stepsOf(owner)).toEqual(["deposit.seen 7", "deposit.settled 7"]);
  expect(new Set(rig.deposits(owner.address).map(({ deposit }) => deposit.id)).size).toBe(1);
});

test("one that a fork took away is orphaned once a solid block is a day later", async () => {
  await open();
  const owner = await openOwner();
  await chain.give({ to: owner.hex, amount: 7n * unit });
  await chain.mine();
  await told(owner, 1);
  await rig.caughtUp();
  await chain.reorg(1);
  const { timestamp } = await chain.client.getBlock();
  await chain.setTime(Number(timestamp) + daySeconds + 60);
  await chain.mine(finalizedLag + 2);
  await told(owner, 2);
  expect(stepsOf(owner)).toEqual(["deposit.seen 7", "deposit.orphaned 7"]);
});

test("among more owners than a node takes in one question every deposit is found", async () => {
  await open();
  const owners = Array.from({ length: 1_200 }, newAccount);
  const links = owners.map(({ address }) => rig.sampleLink({ destinationAddress: address }));
  await rig.hear(...links);
  await rig.caughtUp();
  const paid = [0, 599, 1_199].map((at) => owners[at] ?? newAccount());
  for (const { hex } of paid) await chain.give({ to: hex, amount: unit });
  await chain.mine(finalizedLag + 1);
  for (const one of paid) await settled(one);
  expect(owners.filter((one) => stepsOf(one).length > 0)).toEqual(paid);
});
