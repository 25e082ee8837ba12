import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Decimal, type PaymentLinkState, tronFromHex } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { PaymentOrder, TokenName } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { type TronChain, openTronChain } from "../../testing/tron/open-tron-chain.ts";

const finalizedLag = 4;
const unit = 1_000_000n;
const stranger = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";

let chain: TronChain;
let rig: WatchRig;
beforeAll(async () => {
  chain = await openTronChain({ finalizedLag });
  await chain.mine(finalizedLag);
  rig = await openWatchRig(chain, { finality: "finalized" });
  await rig.service.start();
  await rig.caughtUp();
});
afterAll(async () => {
  await rig?.close();
  await chain?.close();
});

const tokenOf = (name: TokenName): string => tronFromHex(chain.addressOf(name));

/** A link of which the listener has heard, and how it is paid. */
const openLink = async (token: TokenName = "usdc", change: Partial<PaymentLinkState> = {}) => {
  const link = await rig.hearNew({ tokenAddress: tokenOf(token), ...change });
  const order = (amount: bigint, other: Partial<PaymentOrder> = {}): PaymentOrder => ({
    reference: link.paymentReference,
    to: owner,
    amount,
    token,
    ...other,
  });
  return { link, order };
};

/** Mines what waits, and lets it all be final and told: a last payment of another link is told. */
const settleAll = async (): Promise<void> => {
  await chain.mine();
  const last = await openLink();
  await chain.pay(last.order(1n, { payer: 2 }));
  await chain.mine(1 + finalizedLag);
  await waitUntil("the last one is settled", () =>
    rig.told(last.link.id).some(({ status }) => status === "settled"),
  );
};

/** Those of one block stand in no order of their own. */
const settled = ({ id }: PaymentLinkState) =>
  rig
    .told(id)
    .filter(({ status }) => status === "settled")
    .toSorted((one, other) => new Decimal(one.amount).cmp(other.amount));

test("an exact payment is processing once it is mined and settled once its block is solid, in Tron's addresses", async () => {
  const { link, order } = await openLink();
  const hash = await chain.pay(order(25n * unit));
  await chain.mine();
  await waitUntil("it is seen", () => rig.statuses(link.id).length === 1);
  await chain.mine(finalizedLag - 1);
  await rig.caughtUp();
  expect(rig.statuses(link.id)).toEqual(["processing 25"]);
  await chain.mine();
  await waitUntil("it is settled", () => rig.statuses(link.id).length === 2);
  expect(rig.told(link.id).at(-1)).toMatchObject({
    source: "chain:local-tron",
    status: "settled",
    amount: "25",
    chainId: "local-tron",
    tokenAddress: tokenOf("usdc"),
    destinationAddress: tronFromHex(owner),
    sourceTransaction: hash,
    version: 2,
  });
});

test.each([
  ["in parts", [10n, 15n]],
  ["too much", [30n]],
  ["twice", [25n, 25n]],
])("a payment %s is told as what arrived, each by itself", async (_how, amounts) => {
  const { link, order } = await openLink();
  for (const amount of amounts) await chain.pay(order(amount * unit));
  await settleAll();
  expect(settled(link).map(({ amount }) => amount)).toEqual(amounts.map(String));
});

test("a late payment is told with its block's own time", async () => {
  const head = await chain.client.getBlock();
  const expirationDate = new Date(Number(head.timestamp) * 1000 + 60_000);
  const { link, order } = await openLink("usdc", { expirationDate });
  const paidAtSeconds = Number(head.timestamp) + 120;
  await chain.setTime(paidAtSeconds);
  await chain.pay(order(25n * unit));
  await settleAll();
  const occurredAt = settled(link).map((payment) => new Date(payment.occurredAt).getTime());
  expect(occurredAt).toEqual([paidAtSeconds * 1000]);
});

test("a payment in another token, or to another address, is told as what it is", async () => {
  const { link, order } = await openLink();
  await chain.pay(order(25n * unit, { token: "other6" }));
  await chain.pay(order(26n * unit, { to: stranger }));
  await settleAll();
  expect(
    settled(link).map(({ amount, tokenAddress, destinationAddress }) => [
      amount,
      tokenAddress,
      destinationAddress,
    ]),
  ).toEqual([
    ["25", tokenOf("other6"), tronFromHex(owner)],
    ["26", tokenOf("usdc"), tronFromHex(stranger)],
  ]);
});

test("of a token that takes a fee, what arrived counts", async () => {
  const { link, order } = await openLink("fee");
  await chain.pay(order(100n * unit));
  await settleAll();
  expect(settled(link).map(({ amount }) => amount)).toEqual(["99"]);
});

test("a forged event, an unknown token and a token that moves nothing are nothing", async () => {
  const { link, order } = await openLink();
  const idle = await openLink("idle");
  await chain.payFakeProxy(order(25n * unit));
  await chain.pay(order(25n * unit, { token: "unlisted" }));
  await chain.pay(order(25n * unit, { reference: "ff".repeat(16) }));
  await chain.pay(idle.order(25n * unit));
  await settleAll();
  expect([...rig.statuses(link.id), ...rig.statuses(idle.link.id)]).toEqual([]);
});

test("a transaction that failed is nothing", async () => {
  const { link, order } = await openLink("blocking");
  await chain.blockAccount(stranger);
  await chain.mine();
  const hash = await chain.pay(order(25n * unit, { to: stranger }));
  await settleAll();
  expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({ status: "reverted" });
  expect(rig.statuses(link.id)).toEqual([]);
});

test("several payments in one transaction, of one link and of others, are each told", async () => {
  const [first, second] = [await openLink(), await openLink("coin18")];
  await chain.payTogether([
    first.order(1n * unit),
    second.order(2n * 10n ** 18n),
    first.order(3n * unit),
  ]);
  await settleAll();
  expect(settled(first.link).map(({ amount }) => amount)).toEqual(["1", "3"]);
  expect(settled(second.link).map(({ amount }) => amount)).toEqual(["2"]);
});

test("a payment seen before its link is heard of is told with it", async () => {
  const link = rig.sampleLink();
  await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
  await settleAll();
  await rig.hear(link);
  await waitUntil("it is settled", () => rig.statuses(link.id).includes("settled 0.000005"));
});
