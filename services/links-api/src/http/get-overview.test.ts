import { getChainSource } from "@payment-links/chains";
import { describe, expect, test } from "@jest/globals";
import { overviewCountMax } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import {
  insertLinkCopies,
  sampleAccount,
  sampleSettlement,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(createRig);
const path = "/console/api/overview";
const dayMs = 86_400_000;

const createShop = () => {
  const account = sampleAccount();
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  return {
    account,
    createLink: (body: object = {}) => rig.createLink(keyHeaders, { toAmount: "1000", ...body }),
    sessionHeaders,
    readOverview: async (query = "") =>
      (await rig.call(`${path}${query}`, { headers: sessionHeaders })).json,
  };
};

const getToday = () => rig.clock.now().toISOString().slice(0, 10);

/** A token that is mistaken for USDC. */
const usdbcAddress = "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA";

const emptyCount = { count: 0, hasMore: false };

describe("GET /console/api/overview (rule CALLER-25)", () => {
  test("returns empty lists and zero counts for an account without data", async () => {
    const account = sampleAccount({ handle: null, wallets: [] });
    const { json, status } = await rig.call(path, { headers: rig.createSessionHeaders(account) });
    expect([status, json]).toEqual([
      200,
      {
        received: [],
        tokens: [],
        links: { active: emptyCount, completed: emptyCount, inactive: emptyCount },
        unapplied: { ...emptyCount, payments: [] },
        recentPayments: [],
      },
    ]);
  });

  test("adds up exactly the applied payments, by UTC day and token, of this account only", async () => {
    const { account, createLink, readOverview } = createShop();
    const linkId = await createLink();
    const accountWithOtherToken = {
      ...account,
      version: 2,
      wallets: account.wallets.map((wallet) => ({ ...wallet, tokenId: "usdc-ethereum" })),
    };
    const otherTokenLinkId = await rig.createLink(rig.createKeyHeaders(accountWithOtherToken), {
      toAmount: "9",
    });
    const { token } = await rig.retrieve(otherTokenLinkId);
    const otherShop = createShop();
    await rig.settle(sampleSettlement(await otherShop.createLink(), { amount: "7" }));
    await rig.settle(
      sampleSettlement(linkId, { amount: "0.000001" }),
      sampleSettlement(linkId, { amount: "123456789012345.1", status: "failed" }),
      sampleSettlement(linkId, { amount: "3", status: "processing" }),
      sampleSettlement(linkId, { amount: "200.1" }),
    );
    await rig.settle(
      sampleSettlement(otherTokenLinkId, {
        amount: "4",
        tokenAddress: token.address,
        chainId: token.chain.id,
      }),
    );
    const firstDay = getToday();
    // One millisecond before midnight, and midnight itself.
    rig.clock.advance(dayMs - (rig.clock.now().getTime() % dayMs) - 1);
    await rig.settle(sampleSettlement(linkId, { amount: "1" }));
    rig.clock.advance(1);
    await rig.settle(sampleSettlement(linkId, { amount: "2.5" }));
    const secondDay = getToday();
    expect(secondDay).not.toBe(firstDay);

    const { received, tokens } = await readOverview();
    const usdcFields = { tokenId: usdcOnBase.tokenId };
    expect(received).toEqual([
      { day: firstDay, ...usdcFields, amount: "201.100001", paymentCount: 3 },
      { day: firstDay, tokenId: "usdc-ethereum", amount: "4", paymentCount: 1 },
      { day: secondDay, ...usdcFields, amount: "2.5", paymentCount: 1 },
    ]);
    expect(tokens.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [usdcOnBase.tokenId, "usdc-ethereum"].toSorted(),
    );
    expect((await readOverview("?days=1")).received).toHaveLength(1);
    rig.clock.advance(365 * dayMs);
    expect((await readOverview()).received).toEqual([]);
    expect((await readOverview("?days=366")).received).toHaveLength(1);
  });

  test("adds a replayed payment once, and keeps its amount after it is orphaned", async () => {
    const { createLink, readOverview } = createShop();
    const payment = sampleSettlement(await createLink(), { amount: "5", status: "processing" });
    const settledPayment = { ...payment, version: 2, status: "settled" as const };
    const expected = [
      { day: getToday(), tokenId: usdcOnBase.tokenId, amount: "5", paymentCount: 1 },
    ];
    await rig.settle(payment);
    expect((await readOverview()).received).toEqual([]);
    await rig.settle(settledPayment);
    await rig.settle({ ...settledPayment, version: 3 });
    await rig.settle({ ...settledPayment, version: 4, isOrphaned: true });
    expect((await readOverview()).received).toEqual(expected);
  });

  test("returns the newest 20 unapplied payments with their reasons, and their total number", async () => {
    const { createLink, readOverview } = createShop();
    const linkId = await createLink({ toAmount: "1" });
    await rig.settle(sampleSettlement(linkId, { amount: "1" }));
    const unappliedSettlements = Array.from({ length: 22 }, (_, index) =>
      sampleSettlement(linkId, {
        amount: "1",
        firstSeenAt: new Date(rig.clock.now().getTime() + index),
        ...(index === 21 ? { chainId: "1" } : {}),
      }),
    );
    await rig.settle(...unappliedSettlements);
    const { received, unapplied } = await readOverview();
    expect(received).toMatchObject([{ amount: "1", paymentCount: 1 }]);
    expect([unapplied.count, unapplied.hasMore]).toEqual([22, false]);
    const ids = unappliedSettlements.map(({ id }) => id).toReversed();
    expect(unapplied.payments.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 20));
    expect(unapplied.payments[0]).toMatchObject({
      paymentLinkId: linkId,
      applied: false,
      reason: "wrong_token",
    });
    expect(unapplied.payments[1].reason).toBe("completed");
  });

  test("returns the newest 5 payments on all links, with their links' descriptions and tokens", async () => {
    const { createLink, readOverview } = createShop();
    const linkIds = [await createLink({ description: "Tea" }), await createLink()];
    const otherShop = createShop();
    await rig.settle(sampleSettlement(await otherShop.createLink(), { amount: "9" }));
    const settlements = Array.from({ length: 7 }, (_, index) =>
      sampleSettlement(linkIds[index % 2] ?? "", {
        amount: String(index + 1),
        firstSeenAt: new Date(rig.clock.now().getTime() + index),
        ...(index === 5 ? { tokenAddress: "0x0000000000000000000000000000000000000001" } : {}),
        ...(index === 4 ? { tokenAddress: usdbcAddress } : {}),
        ...(index === 6 ? { status: "processing", source: getChainSource("8453") } : {}),
        sourceTransaction: `0x${"ab".repeat(31)}0${index}`,
      }),
    );
    await rig.settle(...settlements);
    const { recentPayments } = await readOverview();
    expect(recentPayments.map(({ amount }: { amount: string }) => amount)).toEqual([
      "7",
      "6",
      "5",
      "4",
      "3",
    ]);
    expect(recentPayments[0]).toMatchObject({
      paymentLinkId: linkIds[0],
      description: "Tea",
      status: "processing",
      token: { symbol: "USDC", chain: { id: "8453" } },
      transactionUrl: `https://basescan.org/tx/0x${"ab".repeat(31)}06`,
    });
    expect(recentPayments[1]).toMatchObject({
      paymentLinkId: linkIds[1],
      description: null,
      token: null,
      // A provider can report a transaction of another chain.
      transactionUrl: null,
    });
    expect(recentPayments[2]).toMatchObject({ reason: "wrong_token", token: { symbol: "USDbC" } });
  });

  test("returns the number of links by current status, up to 10,000", async () => {
    const { createLink, readOverview, sessionHeaders } = createShop();
    const expirationDate = new Date(rig.clock.now().getTime() + 1000).toISOString();
    await createLink({ expirationDate });
    const paidLinkId = await createLink({ toAmount: "1" });
    await rig.settle(sampleSettlement(paidLinkId, { amount: "1" }));
    const endedLinkId = await createLink();
    const headers = sessionHeaders;
    await rig.call(`/console/api/payment-links/${endedLinkId}/deactivate`, {
      method: "POST",
      headers,
    });
    const activeLinkId = await createLink();
    const oneLink = { count: 1, hasMore: false };
    const twoLinks = { count: 2, hasMore: false };
    expect((await readOverview()).links).toEqual({
      active: twoLinks,
      completed: oneLink,
      inactive: oneLink,
    });
    rig.clock.advance(1000);
    expect((await readOverview()).links).toEqual({
      active: oneLink,
      completed: oneLink,
      inactive: twoLinks,
    });
    await insertLinkCopies(rig.pool, activeLinkId, { count: overviewCountMax - 1 });
    expect((await readOverview()).links.active).toEqual({
      count: overviewCountMax,
      hasMore: false,
    });
    await createLink();
    expect((await readOverview()).links.active).toEqual({ count: overviewCountMax, hasMore: true });
  });

  test.each([
    ["0", "greater_than_equal"],
    ["367", "less_than_equal"],
    ["x", "int_parsing"],
  ])("for %s days, returns 422 %s", async (days, code) => {
    const response = await rig.call(`${path}?days=${days}`, {
      headers: createShop().sessionHeaders,
    });
    expect([response.status, response.json.errors[0].code]).toEqual([422, code]);
  });
});
