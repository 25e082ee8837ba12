import { expect, test } from "@jest/globals";
import { type Account, Decimal, type DepositState, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleModeAccount, usdcOnBaseSepolia } from "../testing/sample-mode-account.ts";
import { sampleAccount, sampleSettlement, testStartTime, usdcOnBase } from "../testing/samples.ts";
import { saveDeposits } from "./save-deposits.ts";

const rig = useRig(() => createRig({ hasEmail: true }));
const silentRig = useRig(createRig);

const createShop = async (toAmount: string) => {
  const account = sampleAccount();
  const linkId = await rig.createLink(rig.createKeyHeaders(account), {
    toAmount,
    description: "Order 7",
  });
  return { account, linkId };
};

const listNotifications = async ({ id }: Account) =>
  (await rig.listEvents(id))
    .filter(({ type }) => type.startsWith("notification."))
    .map(({ id: eventId, type, data }) => ({ id: eventId, type, data }));

test("each credited payment is published once to its owner (rules EVENT-11 and MAIL-3)", async () => {
  const { account, linkId } = await createShop("25");
  const first = sampleSettlement(linkId, { amount: "10.50" });
  await rig.settle(first);
  await rig.settle(first, { ...first, version: 2 });
  await rig.settle(sampleSettlement(linkId, { amount: "14.5" }));
  const money = { chainId: usdcOnBase.chainId, tokenAddress: usdcOnBase.tokenAddress };
  const data = { accountId: account.id, ...money, linkId, description: "Order 7" };
  const type = "notification.payment_received";
  expect(await listNotifications(account)).toEqual([
    { id: expect.any(String), type, data: { ...data, amount: "10.5", isLinkCompleted: false } },
    { id: expect.any(String), type, data: { ...data, amount: "14.5", isLinkCompleted: true } },
  ]);
});

test("a settled payment that does not count is published with its reason, but not a duplicate (rule MAIL-3)", async () => {
  const { account, linkId } = await createShop("25");
  const sourceTransaction = "0xabc";
  await rig.settle(sampleSettlement(linkId, { amount: "25", sourceTransaction }));
  await rig.settle(sampleSettlement(linkId, { amount: "25", sourceTransaction, source: "demo" }));
  await rig.settle(sampleSettlement(linkId, { amount: "3" }));
  await rig.settle(sampleSettlement(linkId, { amount: "4", status: "failed" }));
  expect(
    (await listNotifications(account)).map(({ type, data }) => [type, data.amount, data.reason]),
  ).toEqual([
    ["notification.payment_received", "25", undefined],
    ["notification.payment_not_applied", "3", "completed"],
  ]);
});

const createDeposit = (
  { wallets }: Account,
  overrides: Partial<DepositState> = {},
): DepositState => ({
  id: newId("dep"),
  version: 2,
  status: "settled",
  amount: new Decimal("10"),
  tokenAddress: usdcOnBase.tokenAddress,
  chainId: usdcOnBase.chainId,
  destinationAddress: wallets[0]?.walletAddress ?? "",
  payer: null,
  sourceTransaction: `0x${newId("dep")}`,
  occurredAt: testStartTime,
  firstSeenAt: testStartTime,
  ...overrides,
});

const receiveDeposit = (data: DepositState) =>
  rig.pool.transaction((tx) =>
    saveDeposits(rig.dependencies)(tx, [
      {
        data,
        envelope: {
          id: newId("evt"),
          type: `deposit.${data.status}`,
          key: data.id,
          occurredAt: testStartTime,
        },
        traceparent: undefined,
      },
    ]),
  );

test("a deposit is published once, when it has settled (rules EVENT-11 and MAIL-3)", async () => {
  const { account } = await createShop("25");
  const settled = createDeposit(account);
  await receiveDeposit({ ...settled, status: "seen", version: 1 });
  const listDeposits = async () =>
    (await listNotifications(account)).filter(({ type }) => type.endsWith("deposit_unmatched"));
  expect(await listDeposits()).toEqual([]);
  await receiveDeposit(settled);
  await receiveDeposit(settled);
  await receiveDeposit({ ...settled, version: 3 });
  expect(await listDeposits()).toMatchObject([
    { data: { accountId: account.id, amount: "10", chainId: usdcOnBase.chainId } },
  ]);
});

test("a deposit that settles again is published under the same id (rule EVENT-11)", async () => {
  const { account } = await createShop("25");
  const deposit = createDeposit(account);
  await receiveDeposit(deposit);
  await receiveDeposit({ ...deposit, status: "orphaned", version: 3 });
  await receiveDeposit({ ...deposit, version: 4 });
  const ids = (await listNotifications(account)).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

test("nothing is published without a sender of emails (rule EVENT-11)", async () => {
  const account = sampleAccount();
  const linkId = await silentRig.createLink(silentRig.createKeyHeaders(account), { toAmount: "1" });
  await silentRig.settle(sampleSettlement(linkId, { amount: "1" }));
  expect(await silentRig.listEvents(account.id)).toEqual([]);
});

test("a deposit at the address of a test link is not published (rule MODE-9)", async () => {
  const account = sampleModeAccount();
  const wallets = account.wallets.map((wallet) => ({
    ...wallet,
    walletAddress: `0x${newId("dep").slice(4, 12).padStart(40, "5")}`,
  }));
  const key = rig.createKeyHeaders({ ...account, wallets }, { mode: "test" });
  await rig.createLink(key, { toAmount: "25" });
  const [, testWallet] = wallets;
  const deposit = createDeposit({
    ...account,
    wallets: testWallet === undefined ? [] : [testWallet],
  });
  const { chainId, tokenAddress } = usdcOnBaseSepolia;
  await receiveDeposit({ ...deposit, chainId, tokenAddress });
  const { json } = await rig.call("/console/api/deposits?mode=test", {
    headers: rig.createSessionHeaders(account),
  });
  expect(json.data).toHaveLength(1);
  expect(await listNotifications(account)).toEqual([]);
});
