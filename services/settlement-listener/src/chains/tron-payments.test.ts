import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { Decimal, type PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { PaymentOrder, TokenName } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import {
  type LocalTronChain,
  startTronChain,
} from "@payment-links/local-chains/tron/start-tron-chain";

const finalizedLag = 4;
const baseUnitsPerToken = 1_000_000n;
const otherAddress = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";

let chain: LocalTronChain;
let rig: WatchRig;
beforeAll(async () => {
  chain = await startTronChain({ finalizedLag });
  await chain.mine(finalizedLag);
  rig = await createWatchRig(chain, { finality: "finalized" });
  await rig.service.start();
  await rig.waitUntilScanned();
});
afterAll(async () => {
  await rig?.close();
  await chain?.close();
});

const getTokenAddress = (name: TokenName): string =>
  tronAddressFromHex(chain.getTokenAddress(name));

/** Creates a link that the listener has received, and a function that creates orders to pay it. */
const createLink = async (token: TokenName = "usdc", overrides: Partial<PaymentLinkState> = {}) => {
  const link = await rig.receiveNewLink({ tokenAddress: getTokenAddress(token), ...overrides });
  const order = (amount: bigint, orderOverrides: Partial<PaymentOrder> = {}): PaymentOrder => ({
    reference: link.paymentReference,
    to: owner,
    amount,
    token,
    ...orderOverrides,
  });
  return { link, order };
};

/**
 * Mines the pending transactions and waits until all of them are final and published. A payment of
 * another link comes last and shows that.
 */
const settleAll = async (): Promise<void> => {
  await chain.mine();
  const lastLink = await createLink();
  await chain.pay(lastLink.order(1n, { payer: 2 }));
  await chain.mine(1 + finalizedLag);
  await waitUntil("the last payment is settled", () =>
    rig.publishedPayments(lastLink.link.id).some(({ status }) => status === "settled"),
  );
};

/**
 * Returns the settled payments. They are sorted, because payments in the same block are published
 * in any order.
 */
const listSettled = ({ id }: PaymentLinkState) =>
  rig
    .publishedPayments(id)
    .filter(({ status }) => status === "settled")
    .toSorted((left, right) => new Decimal(left.amount).cmp(right.amount));

test("an exact payment is processing once mined and settled once its block is solid, with Tron addresses (rule CALLER-42)", async () => {
  const { link, order } = await createLink();
  const hash = await chain.pay(order(25n * baseUnitsPerToken));
  await chain.mine();
  await waitUntil("the payment is published", () => rig.publishedStatuses(link.id).length === 1);
  await chain.mine(finalizedLag - 1);
  await rig.waitUntilScanned();
  expect(rig.publishedStatuses(link.id)).toEqual(["processing 25"]);
  await chain.mine();
  await waitUntil("it is settled", () => rig.publishedStatuses(link.id).length === 2);
  expect(rig.publishedPayments(link.id).at(-1)).toMatchObject({
    source: "chain:local-tron",
    status: "settled",
    amount: "25",
    chainId: "local-tron",
    tokenAddress: getTokenAddress("usdc"),
    destinationAddress: tronAddressFromHex(owner),
    payer: tronAddressFromHex(chain.payers[0]),
    sourceTransaction: hash,
    version: 2,
  });
});

test.each([
  ["in parts", [10n, 15n]],
  ["too much", [30n]],
  ["twice", [25n, 25n]],
])("a link paid %s gets one payment for each received amount", async (_how, amounts) => {
  const { link, order } = await createLink();
  for (const amount of amounts) await chain.pay(order(amount * baseUnitsPerToken));
  await settleAll();
  expect(listSettled(link).map(({ amount }) => amount)).toEqual(amounts.map(String));
});

test("a late payment is published with its block's own time", async () => {
  const head = await chain.client.getBlock();
  const expirationDate = new Date(Number(head.timestamp) * 1000 + 60_000);
  const { link, order } = await createLink("usdc", { expirationDate });
  const paidAtSeconds = Number(head.timestamp) + 120;
  await chain.setNextBlockTime(paidAtSeconds);
  await chain.pay(order(25n * baseUnitsPerToken));
  await settleAll();
  const occurredAt = listSettled(link).map((payment) => new Date(payment.occurredAt).getTime());
  expect(occurredAt).toEqual([paidAtSeconds * 1000]);
});

test("a payment in another token, or to another address, is published with its actual token and destination", async () => {
  const { link, order } = await createLink();
  await chain.pay(order(25n * baseUnitsPerToken, { token: "other6" }));
  await chain.pay(order(26n * baseUnitsPerToken, { to: otherAddress }));
  await settleAll();
  expect(
    listSettled(link).map(({ amount, tokenAddress, destinationAddress }) => [
      amount,
      tokenAddress,
      destinationAddress,
    ]),
  ).toEqual([
    ["25", getTokenAddress("other6"), tronAddressFromHex(owner)],
    ["26", getTokenAddress("usdc"), tronAddressFromHex(otherAddress)],
  ]);
});

test("a payment in a token that takes a fee has the received amount", async () => {
  const { link, order } = await createLink("fee");
  await chain.pay(order(100n * baseUnitsPerToken));
  await settleAll();
  expect(listSettled(link).map(({ amount }) => amount)).toEqual(["99"]);
});

test("a forged event, an unknown token and a token that moves nothing prove no payment", async () => {
  const { link, order } = await createLink();
  const idleLink = await createLink("idle");
  await chain.payFakeProxy(order(25n * baseUnitsPerToken));
  await chain.pay(order(25n * baseUnitsPerToken, { token: "unlisted" }));
  await chain.pay(order(25n * baseUnitsPerToken, { reference: "ff".repeat(16) }));
  await chain.pay(idleLink.order(25n * baseUnitsPerToken));
  await settleAll();
  expect([...rig.publishedStatuses(link.id), ...rig.publishedStatuses(idleLink.link.id)]).toEqual(
    [],
  );
});

test("a failed transaction proves no payment", async () => {
  const { link, order } = await createLink("blocking");
  await chain.blockAccount(otherAddress);
  await chain.mine();
  const hash = await chain.pay(order(25n * baseUnitsPerToken, { to: otherAddress }));
  await settleAll();
  expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({ status: "reverted" });
  expect(rig.publishedStatuses(link.id)).toEqual([]);
});

test("several payments in one transaction, for one link and for others, are each published", async () => {
  const [usdcLink, coinLink] = [await createLink(), await createLink("coin18")];
  await chain.payInOneTransaction([
    usdcLink.order(1n * baseUnitsPerToken),
    coinLink.order(2n * 10n ** 18n),
    usdcLink.order(3n * baseUnitsPerToken),
  ]);
  await settleAll();
  expect(listSettled(usdcLink.link).map(({ amount }) => amount)).toEqual(["1", "3"]);
  expect(listSettled(coinLink.link).map(({ amount }) => amount)).toEqual(["2"]);
});

test("a payment made before its link was received is published once the link arrives", async () => {
  const link = rig.sampleLink();
  await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
  await settleAll();
  await rig.receiveLinks(link);
  await waitUntil("it is settled", () =>
    rig.publishedStatuses(link.id).includes("settled 0.000005"),
  );
});
