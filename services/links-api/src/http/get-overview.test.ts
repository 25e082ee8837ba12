import { describe, expect, test } from "@jest/globals";
import { overviewCountMax } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { copyLink, sampleAccount, sampleSettlement, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(openRig);
const path = "/console/api/overview";
const dayMs = 86_400_000;

const openShop = () => {
  const account = sampleAccount();
  const headers = rig.giveKey(account);
  const session = rig.giveSession(account);
  return {
    account,
    create: (order: object = {}) => rig.createLink(headers, { toAmount: "1000", ...order }),
    session,
    read: async (query = "") => (await rig.call(`${path}${query}`, { headers: session })).json,
  };
};

const today = () => rig.clock.now().toISOString().slice(0, 10);

const none = { count: 0, hasMore: false };

describe("GET /console/api/overview (rule CALLER-25)", () => {
  test("of an account without anything shows nothing, and counts 0", async () => {
    const account = sampleAccount({ handle: null, wallets: [] });
    const { json, status } = await rig.call(path, { headers: rig.giveSession(account) });
    expect([status, json]).toEqual([
      200,
      {
        received: [],
        tokens: [],
        links: { active: none, completed: none, inactive: none },
        unapplied: { ...none, payments: [] },
      },
    ]);
  });

  test("adds up exactly what counts, by day in UTC and token, of this account alone", async () => {
    const { account, create, read } = openShop();
    const linkId = await create();
    const inAnother = {
      ...account,
      version: 2,
      wallets: account.wallets.map((one) => ({ ...one, tokenId: "usdc-ethereum" })),
    };
    const other = await rig.createLink(rig.giveKey(inAnother), { toAmount: "9" });
    const { token } = await rig.retrieve(other);
    const stranger = openShop();
    await rig.settle(sampleSettlement(await stranger.create(), { amount: "7" }));
    await rig.settle(
      sampleSettlement(linkId, { amount: "0.000001" }),
      sampleSettlement(linkId, { amount: "123456789012345.1", status: "failed" }),
      sampleSettlement(linkId, { amount: "3", status: "processing" }),
      sampleSettlement(linkId, { amount: "200.1" }),
    );
    await rig.settle(
      sampleSettlement(other, {
        amount: "4",
        tokenAddress: token.address,
        chainId: token.chain.id,
      }),
    );
    const first = today();
    // One millisecond before midnight, and midnight.
    rig.clock.advance(dayMs - (rig.clock.now().getTime() % dayMs) - 1);
    await rig.settle(sampleSettlement(linkId, { amount: "1" }));
    rig.clock.advance(1);
    await rig.settle(sampleSettlement(linkId, { amount: "2.5" }));
    const second = today();
    expect(second).not.toBe(first);

    const { received, tokens } = await read();
    const usdc = { tokenId: usdcOnBase.tokenId };
    expect(received).toEqual([
      { day: first, ...usdc, amount: "201.100001", paymentCount: 3 },
      { day: first, tokenId: "usdc-ethereum", amount: "4", paymentCount: 1 },
      { day: second, ...usdc, amount: "2.5", paymentCount: 1 },
    ]);
    expect(tokens.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [usdcOnBase.tokenId, "usdc-ethereum"].toSorted(),
    );
    expect((await read("?days=1")).received).toHaveLength(1);
    rig.clock.advance(365 * dayMs);
    expect((await read()).received).toEqual([]);
    expect((await read("?days=366")).received).toHaveLength(1);
  });

  test("counts a payment once, whatever is told again, and keeps its credit when its chain takes it away", async () => {
    const { create, read } = openShop();
    const payment = sampleSettlement(await create(), { amount: "5", status: "processing" });
    const settled = { ...payment, version: 2, status: "settled" as const };
    const expected = [{ day: today(), tokenId: usdcOnBase.tokenId, amount: "5", paymentCount: 1 }];
    await rig.settle(payment);
    expect((await read()).received).toEqual([]);
    await rig.settle(settled);
    await rig.settle({ ...settled, version: 3 });
    await rig.settle({ ...settled, version: 4, isOrphaned: true });
    expect((await read()).received).toEqual(expected);
  });

  test("shows the newest 20 payments that do not count, with their reasons, and how many there are", async () => {
    const { create, read } = openShop();
    const linkId = await create({ toAmount: "1" });
    await rig.settle(sampleSettlement(linkId, { amount: "1" }));
    const late = Array.from({ length: 22 }, (_, index) =>
      sampleSettlement(linkId, {
        amount: "1",
        firstSeenAt: new Date(rig.clock.now().getTime() + index),
        ...(index === 21 ? { chainId: "1" } : {}),
      }),
    );
    await rig.settle(...late);
    const { received, unapplied } = await read();
    expect(received).toMatchObject([{ amount: "1", paymentCount: 1 }]);
    expect([unapplied.count, unapplied.hasMore]).toEqual([22, false]);
    const ids = late.map(({ id }) => id).toReversed();
    expect(unapplied.payments.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 20));
    expect(unapplied.payments[0]).toMatchObject({
      paymentLinkId: linkId,
      applied: false,
      reason: "wrong_token",
    });
    expect(unapplied.payments[1].reason).toBe("completed");
  });

  test("counts links by the status of this moment, and no further than 10,000", async () => {
    const { create, read, session } = openShop();
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    await create({ expirationDate });
    const paid = await create({ toAmount: "1" });
    await rig.settle(sampleSettlement(paid, { amount: "1" }));
    const ended = await create();
    const headers = session;
    await rig.call(`/console/api/payment-links/${ended}/deactivate`, { method: "POST", headers });
    const active = await create();
    const one = { count: 1, hasMore: false };
    const two = { count: 2, hasMore: false };
    expect((await read()).links).toEqual({ active: two, completed: one, inactive: one });
    rig.clock.advance(1000);
    expect((await read()).links).toEqual({ active: one, completed: one, inactive: two });
    await copyLink(rig.pool, active, { count: overviewCountMax - 1 });
    expect((await read()).links.active).toEqual({ count: overviewCountMax, hasMore: false });
    await create();
    expect((await read()).links.active).toEqual({ count: overviewCountMax, hasMore: true });
  });

  test.each([
    ["0", "greater_than_equal"],
    ["367", "less_than_equal"],
    ["x", "int_parsing"],
  ])("of %s days answers 422 %s", async (days, code) => {
    const answer = await rig.call(`${path}?days=${days}`, { headers: openShop().session });
    expect([answer.status, answer.json.errors[0].code]).toEqual([422, code]);
  });
});
