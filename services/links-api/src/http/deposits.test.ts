import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { deriveSolanaReference, toEip55 } from "@payment-links/chains";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { type Account, Decimal, type DepositState, newId } from "@payment-links/contracts";
import { sqlVoid, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { saveDeposits } from "../events/save-deposits.ts";
import { lockLinks } from "../store/links.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleModeAccount, usdcOnBaseSepolia } from "../testing/sample-mode-account.ts";
import { sampleAccount, testStartTime, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(createRig);

const newAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);

/**
 * Creates an account with its own payment address, and helpers that act on behalf of the account.
 */
const createShop = (
  walletAddress = newAddress(),
  overrides: Partial<Account["wallets"][number]> = {},
) => {
  const baseAccount = sampleAccount();
  const account: Account = {
    ...baseAccount,
    wallets: baseAccount.wallets.map((wallet) => ({ ...wallet, walletAddress, ...overrides })),
  };
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  const post = (path: string, body?: object) =>
    rig.call(`/console/api/deposits/${path}`, {
      method: "POST",
      headers: {
        ...sessionHeaders,
        origin: "http://127.0.0.1",
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    account,
    sessionHeaders,
    address: walletAddress,
    createLink: (body: object = { toAmount: "10" }) => rig.createLink(keyHeaders, body),
    listDeposits: async (query = "") =>
      (await rig.call(`/console/api/deposits${query}`, { headers: sessionHeaders })).json,
    assign: (depositId: string, paymentLinkId: string) =>
      post(`${depositId}/assign`, { paymentLinkId }),
    dismiss: (depositId: string) => post(`${depositId}/dismiss`),
  };
};
type Shop = ReturnType<typeof createShop>;

const createDeposit = (
  { address }: Pick<Shop, "address">,
  { amount = "10", ...overrides }: Partial<Omit<DepositState, "amount">> & { amount?: string } = {},
): DepositState => ({
  id: newId("dep"),
  version: 2,
  status: "settled",
  amount: new Decimal(amount),
  tokenAddress: usdcOnBase.tokenAddress,
  chainId: usdcOnBase.chainId,
  destinationAddress: address,
  payer: newAddress(),
  sourceTransaction: `0x${randomBytes(32).toString("hex")}`,
  occurredAt: new Date(testStartTime.getTime() + 1_000),
  firstSeenAt: new Date(testStartTime.getTime() + 2_000),
  ...overrides,
});

/** Receives deposits from settlement-listener, all in one chunk. */
const receiveDeposits = (...deposits: readonly DepositState[]): Promise<void> =>
  receiveDepositsPublishedAt(testStartTime, ...deposits);

const receiveDepositsPublishedAt = async (
  occurredAt: Date,
  ...deposits: readonly DepositState[]
): Promise<void> => {
  const events = deposits.map((data) => ({
    data,
    envelope: {
      id: newId("evt"),
      type: `deposit.${data.status}`,
      key: data.id,
      occurredAt,
    },
    traceparent: undefined,
  }));
  await transact(rig.pool, (tx) => saveDeposits(rig.dependencies)(tx, events));
};

/**
 * For each chain family other than EVM, a deposit as settlement-listener reports it, and its
 * owner's wallet.
 */
const nonEvmCases: readonly (readonly [
  chainId: string,
  {
    tokenId: string;
    chainType: "SVM" | "TVM";
    address: string;
    tokenAddress: string;
    payer: string;
    sourceTransaction: string;
  },
])[] = [
  [
    "tron",
    {
      tokenId: "usdt-tron",
      chainType: "TVM",
      address: tronAddressFromHex(randomBytes(20).toString("hex")),
      tokenAddress: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      payer: tronAddressFromHex(randomBytes(20).toString("hex")),
      sourceTransaction: `0x${randomBytes(32).toString("hex")}`,
    },
  ],
  [
    "solana",
    {
      tokenId: "usdc-solana",
      chainType: "SVM",
      address: deriveSolanaReference(randomBytes(16).toString("hex")),
      tokenAddress: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      payer: deriveSolanaReference(randomBytes(16).toString("hex")),
      sourceTransaction:
        "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    },
  ],
];

const formatResult = ({
  json,
  status,
}: {
  json: { errors?: { code: string }[] };
  status: number;
}) => `${status} ${json.errors?.[0]?.code ?? ""}`.trim();

const createShopWithDeposit = async (body?: object) => {
  const shop = createShop();
  const linkId = await shop.createLink(body);
  const deposit = createDeposit(shop);
  await receiveDeposits(deposit);
  return { shop, linkId, deposit };
};

describe("the list of deposits (rule CALLER-29)", () => {
  test("shows what arrived at an address of the account's links, and only to that account", async () => {
    const { deposit, shop } = await createShopWithDeposit();
    const otherShop = createShop();
    await otherShop.createLink();
    const { data, nextOffset } = await shop.listDeposits();
    expect(nextOffset).toBeNull();
    expect(data).toEqual([
      expect.objectContaining({
        id: deposit.id,
        status: "settled",
        decision: "unmatched",
        amount: "10",
        token: expect.objectContaining({ symbol: "USDC" }),
        sender: deposit.payer,
        sourceTransaction: deposit.sourceTransaction,
        dateOnChain: deposit.occurredAt.toISOString(),
      }),
    ]);
    expect((await otherShop.listDeposits()).data).toEqual([]);
  });

  test("shows a deposit to each account with a link at its address, and keeps their decisions separate", async () => {
    const shop = createShop();
    const otherShop = createShop(shop.address);
    await shop.createLink();
    await otherShop.createLink();
    const deposit = createDeposit(shop);
    await receiveDeposits(deposit);
    expect((await shop.dismiss(deposit.id)).status).toBe(200);
    expect((await shop.listDeposits()).data).toEqual([]);
    expect((await otherShop.listDeposits()).data).toEqual([
      expect.objectContaining({ decision: "unmatched" }),
    ]);
  });

  test("shows likely links with their reasons, the likeliest first, and none for another token", async () => {
    const shop = createShop();
    const exactLinkId = await shop.createLink({ toAmount: "10" });
    const nearLinkId = await shop.createLink({ toAmount: "11" });
    const senderLinkId = await shop.createLink({ toAmount: "50" });
    const payer = newAddress();
    const earlierDeposit = createDeposit(shop, { amount: "1", payer });
    const deposit = createDeposit(shop, {
      payer,
      firstSeenAt: new Date(testStartTime.getTime() + 9_000),
    });
    await receiveDeposits(earlierDeposit, deposit);
    expect((await shop.assign(earlierDeposit.id, senderLinkId)).status).toBe(200);
    const [listedDeposit] = (await shop.listDeposits()).data;
    expect(
      listedDeposit.likelyLinks.map((likelyLink: { id: string; reasons: string[] }) => [
        likelyLink.id,
        likelyLink.reasons,
      ]),
    ).toEqual([
      [exactLinkId, ["amount", "time"]],
      [senderLinkId, ["sender", "time"]],
      [nearLinkId, ["time"]],
    ]);
    const otherTokenDeposit = createDeposit(shop, { tokenAddress: newAddress() });
    await receiveDeposits(otherTokenDeposit);
    const otherTokenListed = (await shop.listDeposits()).data.find(
      (listed: { id: string }) => listed.id === otherTokenDeposit.id,
    );
    expect(otherTokenListed).toMatchObject({ token: null, likelyLinks: [] });
  });

  test("shows a link created in the same second as the block as likely, but no later one", async () => {
    const shop = createShop();
    const sameSecondLinkId = await shop.createLink({ toAmount: "10" });
    // Block times are whole seconds.
    const createDepositAt = (date: string) => createDeposit(shop, { occurredAt: new Date(date) });
    await rig.pool.query(sqlVoid`
      UPDATE links SET created_at = '2026-11-21T10:00:00.999Z' WHERE id = ${sameSecondLinkId}
    `);
    const deposits = ["2026-11-21T10:00:00Z", "2026-11-21T09:59:59Z"].map(createDepositAt);
    await receiveDeposits(...deposits);
    const { data } = await shop.listDeposits();
    const listLikelyLinks = ({ id }: DepositState) =>
      data
        .find((deposit: { id: string }) => deposit.id === id)
        .likelyLinks.map((link: { id: string; reasons: string[] }) => [link.id, link.reasons]);
    expect(deposits.map(listLikelyLinks)).toEqual([[[sameSecondLinkId, ["amount", "time"]]], []]);
  });

  test("omits orphaned deposits, also across pages", async () => {
    const shop = createShop();
    await shop.createLink();
    const deposits = Array.from({ length: 14 }, (_, index) =>
      createDeposit(shop, { firstSeenAt: new Date(testStartTime.getTime() + index * 1_000) }),
    );
    await receiveDeposits(...deposits);
    const [orphaned] = deposits;
    if (orphaned !== undefined)
      await receiveDeposits({ ...orphaned, version: 3, status: "orphaned" });
    const listedIds: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const page = await shop.listDeposits(`?offset=${offset}`);
      listedIds.push(...page.data.map(({ id }: { id: string }) => id));
      offset = page.nextOffset;
    }
    expect(listedIds).toEqual(
      deposits
        .slice(1)
        .toReversed()
        .map(({ id }) => id),
    );
  });

  test("can be exported as CSV with all decisions", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    const dismissedDeposit = createDeposit(shop, { payer: null });
    await receiveDeposits(dismissedDeposit);
    await shop.assign(deposit.id, linkId);
    await shop.dismiss(dismissedDeposit.id);
    const response = await rig.call("/console/api/deposits.csv", { headers: shop.sessionHeaders });
    const lines = response.text.trim().split("\r\n");
    expect(response.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(lines).toHaveLength(3);
    expect(lines.find((line) => line.includes(deposit.id))).toContain(linkId);
    const filteredResponse = await rig.call("/console/api/deposits.csv?decision=dismissed", {
      headers: shop.sessionHeaders,
    });
    expect(filteredResponse.text.trim().split("\r\n")).toHaveLength(2);
  });
});

describe("an assigned deposit (rule CALLER-29)", () => {
  test("becomes a normal payment of its link, with events and an audit event", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    const response = await shop.assign(deposit.id, linkId);
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({
      deposit: { decision: "assigned", paymentLinkId: linkId },
      payment: { applied: true, status: "settled", amount: "10", reason: null },
    });
    expect(await rig.retrieve(linkId)).toMatchObject({
      status: "completed",
      receivedAmount: "10",
    });
    const events = await rig.listEvents(linkId);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      "payment_link.transaction.succeeded",
      "payment_link.completed",
    ]);
    expect(events[1]?.data.transaction).toMatchObject({
      id: response.json.payment.id,
      sourceTransaction: deposit.sourceTransaction,
      amount: "10",
    });
    const auditRecords = await rig.listAuditRecords(shop.account.id);
    expect(auditRecords.at(-1)).toMatchObject({
      action: "deposit.assigned",
      targetId: deposit.id,
      detail: { paymentLinkId: linkId },
    });
    expect((await shop.listDeposits("?decision=assigned")).data).toHaveLength(1);
  });

  test.each(nonEvmCases)(
    "is listed and credited on %s as on EVM",
    async (chainId, { tokenId, chainType, address, ...overrides }) => {
      const shop = createShop(address, { tokenId, chainType });
      const linkId = await shop.createLink();
      const deposit = createDeposit(shop, { chainId, ...overrides });
      await receiveDeposits(deposit);
      const [listedDeposit] = (await shop.listDeposits()).data;
      expect(listedDeposit).toMatchObject({
        chainId,
        token: { address: overrides.tokenAddress },
        sender: overrides.payer,
        transactionUrl: expect.stringContaining(overrides.sourceTransaction.replace("0x", "")),
        likelyLinks: [{ id: linkId, reasons: ["amount", "time"] }],
      });
      const { json, status } = await shop.assign(deposit.id, linkId);
      expect(status).toBe(200);
      expect(json.payment).toMatchObject({
        applied: true,
        amount: "10",
        sender: overrides.payer,
      });
      expect(await rig.retrieve(linkId)).toMatchObject({ status: "completed" });
    },
  );

  test("is rejected for a look-alike of the link's token, and the owner sees that token's symbol (rule CHAIN-27)", async () => {
    const shop = createShop();
    const linkId = await shop.createLink();
    const usdbcDeposit = createDeposit(shop, {
      tokenAddress: "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA",
    });
    const usdcDeposit = createDeposit(shop, {
      firstSeenAt: new Date(testStartTime.getTime() + 1_000),
    });
    await receiveDeposits(usdbcDeposit, usdcDeposit);
    const { data } = await shop.listDeposits();
    expect(data).toMatchObject([
      { id: usdbcDeposit.id, token: { symbol: "USDbC" }, lookalikeOf: "USDC", likelyLinks: [] },
      { id: usdcDeposit.id, token: { symbol: "USDC" }, lookalikeOf: null },
    ]);
    expect(formatResult(await shop.assign(usdbcDeposit.id, linkId))).toBe(
      "409 DEPOSIT_WRONG_TOKEN",
    );
    expect((await shop.dismiss(usdbcDeposit.id)).status).toBe(200);
  });

  test("is rejected with a separate code for each reason, and changes nothing", async () => {
    const shop = createShop();
    const otherShop = createShop();
    const linkId = await shop.createLink();
    const ownDeposit = createDeposit(shop);
    const seenDeposit = createDeposit(shop, { status: "seen", version: 1 });
    const orphaned = createDeposit(shop, { status: "orphaned", version: 3 });
    const otherTokenDeposit = createDeposit(shop, { tokenAddress: newAddress() });
    await receiveDeposits(ownDeposit, seenDeposit, orphaned, otherTokenDeposit);
    const otherShopLinkId = await otherShop.createLink();
    expect(formatResult(await shop.assign(seenDeposit.id, linkId))).toBe("409 DEPOSIT_NOT_SETTLED");
    expect(formatResult(await shop.assign(orphaned.id, linkId))).toBe("409 DEPOSIT_ORPHANED");
    expect(formatResult(await shop.assign(otherTokenDeposit.id, linkId))).toBe(
      "409 DEPOSIT_WRONG_TOKEN",
    );
    expect(formatResult(await shop.assign(ownDeposit.id, otherShopLinkId))).toBe("404 NOT_FOUND");
    expect(formatResult(await otherShop.assign(ownDeposit.id, otherShopLinkId))).toBe(
      "404 NOT_FOUND",
    );
    expect(formatResult(await otherShop.dismiss(ownDeposit.id))).toBe("404 NOT_FOUND");
    expect(formatResult(await shop.assign(newId("dep"), linkId))).toBe("404 NOT_FOUND");
    expect(formatResult(await shop.assign("dep_x", linkId))).toBe("404 NOT_FOUND");
    expect(formatResult(await shop.assign(ownDeposit.id, "plink_x"))).toBe(
      "422 string_pattern_mismatch",
    );
    expect((await rig.listEvents(linkId)).map(({ type }) => type)).toEqual([
      "payment_link.created",
    ]);
  });

  test("is rejected for a link with another address and for one that has ended", async () => {
    const shop = createShop();
    const firstLinkId = await shop.createLink();
    const deposit = createDeposit(shop);
    await receiveDeposits(deposit);
    const account = {
      ...shop.account,
      version: shop.account.version + 1,
      wallets: shop.account.wallets.map((wallet) => ({ ...wallet, walletAddress: newAddress() })),
    };
    const otherAddressLinkId = await rig.createLink(rig.createKeyHeaders(account), {
      toAmount: "10",
    });
    expect(formatResult(await shop.assign(deposit.id, otherAddressLinkId))).toBe(
      "409 DEPOSIT_WRONG_DESTINATION",
    );
    const deactivation = await rig.call(`/console/api/payment-links/${firstLinkId}/deactivate`, {
      method: "POST",
      headers: { ...shop.sessionHeaders, origin: "http://127.0.0.1" },
    });
    expect(deactivation.status).toBe(200);
    expect(formatResult(await shop.assign(deposit.id, firstLinkId))).toBe(
      "409 PAYMENT_LINK_NOT_ACTIVE",
    );
    expect((await rig.retrieve(firstLinkId)).receivedAmount).toBe("0");
  });

  test("is credited once when many requests assign it concurrently to several links", async () => {
    const { deposit, shop } = await createShopWithDeposit();
    const links = await Promise.all(
      Array.from({ length: 4 }, () => shop.createLink({ toAmount: "1000" })),
    );
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        shop.assign(deposit.id, links[index % links.length] ?? ""),
      ),
    );
    expect(responses.map(formatResult).toSorted()).toEqual([
      "200",
      ...Array.from({ length: 15 }, () => "409 DEPOSIT_ALREADY_ASSIGNED"),
    ]);
    const received = await Promise.all(
      links.map(async (id) => new Decimal((await rig.retrieve(id)).receivedAmount)),
    );
    expect(Decimal.sum(...received).toFixed()).toBe("10");
    const linkEvents = (await Promise.all(links.map((id) => rig.listEvents(id)))).flat();
    expect(
      linkEvents.filter(({ type }) => type === "payment_link.transaction.succeeded"),
    ).toHaveLength(1);
    expect(formatResult(await shop.dismiss(deposit.id))).toBe("409 DEPOSIT_ALREADY_ASSIGNED");
  });

  test("is credited once when two requests both find it unassigned and wait for their links", async () => {
    const { deposit, shop } = await createShopWithDeposit();
    const links = [
      await shop.createLink({ toAmount: "1000" }),
      await shop.createLink({ toAmount: "1000" }),
    ];
    const { pendingAssignments } = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, links);
      const pendingAssignments = Promise.all(links.map((id) => shop.assign(deposit.id, id)));
      await rig.waitUntilBlocked(tx, links.length);
      return { pendingAssignments };
    });
    const codes = (await pendingAssignments).map(formatResult);
    expect(codes.toSorted()).toEqual(["200", "409 DEPOSIT_ALREADY_ASSIGNED"]);
    const received = await Promise.all(
      links.map(async (id) => (await rig.retrieve(id)).receivedAmount),
    );
    expect(new Set(received)).toEqual(new Set(["0", "10"]));
  });

  test("takes turns with other payments of the link, which is completed once", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ toAmount: "1000", maxUsage: 1 });
    const deposits = Array.from({ length: 8 }, () => createDeposit(shop));
    await receiveDeposits(...deposits);
    const responses = await Promise.all(deposits.map(({ id }) => shop.assign(id, linkId)));
    expect(responses.map(formatResult).toSorted()).toEqual([
      "200",
      ...Array.from({ length: 7 }, () => "409 PAYMENT_LINK_NOT_ACTIVE"),
    ]);
    expect(await rig.retrieve(linkId)).toMatchObject({ status: "completed", receivedAmount: "10" });
  });

  test("has a consistent result when its chain orphans it concurrently", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { deposit, linkId, shop } = await createShopWithDeposit();
      const [response] = await Promise.all([
        shop.assign(deposit.id, linkId),
        receiveDeposits({ ...deposit, version: 3, status: "orphaned" }),
      ]);
      const link = await rig.call(`/console/api/payment-links/${linkId}`, {
        headers: shop.sessionHeaders,
      });
      if (response.status === 200) {
        expect(link.json.payments).toEqual([
          expect.objectContaining({ applied: true, orphaned: true }),
        ]);
      } else {
        expect(formatResult(response)).toBe("409 DEPOSIT_ORPHANED");
        expect(link.json).toMatchObject({ receivedAmount: "0", payments: [] });
      }
    }
  });

  test("keeps its credit and is flagged when it is orphaned later", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    await shop.assign(deposit.id, linkId);
    await receiveDeposits({ ...deposit, version: 3, status: "orphaned" });
    const link = await rig.call(`/console/api/payment-links/${linkId}`, {
      headers: shop.sessionHeaders,
    });
    expect(link.json).toMatchObject({
      receivedAmount: "10",
      payments: [{ applied: true, orphaned: true }],
    });
    const [listedDeposit] = (await shop.listDeposits("?decision=assigned")).data;
    expect(listedDeposit).toMatchObject({ status: "orphaned", decision: "assigned" });
    expect((await rig.listEvents(linkId)).map(({ type }) => type)).toHaveLength(3);
  });

  test("loses the flag once its chain has it again", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    await shop.assign(deposit.id, linkId);
    const { sessionHeaders: headers } = shop;
    const readLink = async () =>
      (await rig.call(`/console/api/payment-links/${linkId}`, { headers })).json;
    const linkBefore = [await readLink(), await rig.listEvents(linkId)];
    await receiveDeposits({ ...deposit, version: 3, status: "orphaned" });
    expect((await readLink()).payments).toMatchObject([{ applied: true, orphaned: true }]);
    await receiveDeposits({ ...deposit, version: 4, status: "settled" });
    expect([await readLink(), await rig.listEvents(linkId)]).toEqual(linkBefore);
    const [listedDeposit] = (await shop.listDeposits("?decision=assigned")).data;
    expect(listedDeposit).toMatchObject({ status: "settled", decision: "assigned" });
  });
});

describe("a reported deposit", () => {
  test("is stored and credited once, regardless of repeats and order", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    await receiveDeposits({ ...deposit, version: 1, status: "seen" }, deposit, deposit);
    expect((await shop.listDeposits()).data).toEqual([
      expect.objectContaining({ status: "settled" }),
    ]);
    await shop.assign(deposit.id, linkId);
    await receiveDeposits({ ...deposit, version: 1, status: "seen" }, deposit);
    expect((await rig.retrieve(linkId)).receivedAmount).toBe("10");
    expect((await shop.listDeposits("?decision=assigned")).data).toEqual([
      expect.objectContaining({ status: "settled" }),
    ]);
  });

  // Guards against wrong states when a topic is replayed from the beginning (rule KEEP-5).
  test("is not orphaned again by replayed reports from before its return", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    const orphaned = { ...deposit, version: 3, status: "orphaned" } as const;
    const returned = { ...deposit, version: 4 };
    await receiveDeposits(orphaned);
    await receiveDeposits(returned);
    await receiveDeposits(orphaned);
    await receiveDeposits(returned);
    expect((await shop.listDeposits()).data).toEqual([
      expect.objectContaining({ status: "settled" }),
    ]);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    const { sessionHeaders: headers } = shop;
    const readLink = async () =>
      (await rig.call(`/console/api/payment-links/${linkId}`, { headers })).json;
    const linkBefore = await readLink();
    await receiveDeposits(orphaned);
    await receiveDeposits(deposit, orphaned, returned);
    expect(await readLink()).toEqual(linkBefore);
    await receiveDeposits({ ...orphaned, version: 5 });
    expect((await readLink()).payments).toMatchObject([{ applied: true, orphaned: true }]);
  });

  test("is not orphaned again by reports from before its return in the same chunk", async () => {
    const { deposit, shop } = await createShopWithDeposit();
    const newDeposit = createDeposit(shop);
    const createStates = (initialState: DepositState) =>
      [
        initialState,
        { ...initialState, version: 3, status: "orphaned" },
        { ...initialState, version: 4 },
      ] as const;
    const records = [...createStates(deposit), ...createStates(newDeposit)];
    await receiveDeposits(...records, ...records);
    await receiveDeposits(...records);
    for (const record of records) await receiveDeposits(record);
    const { data } = await shop.listDeposits();
    expect(new Map(data.map(({ id, status }: DepositState) => [id, status]))).toEqual(
      new Map([deposit, newDeposit].map(({ id }) => [id, "settled"])),
    );
  });

  test("is orphaned once under a lower version, as from a restored listener", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    await receiveDeposits({ ...deposit, version: 7 });
    await receiveDeposits({ ...deposit, version: 3, status: "orphaned" });
    expect((await shop.listDeposits()).data).toEqual([]);
    expect(formatResult(await shop.assign(deposit.id, linkId))).toBe("409 DEPOSIT_ORPHANED");
    await receiveDeposits({ ...deposit, version: 8 });
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
  });

  test("is no longer flagged as orphaned once a restored listener has it settled (rules STATE-10 and EVENT-7)", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    await shop.assign(deposit.id, linkId);
    await receiveDeposits({ ...deposit, version: 3, status: "orphaned" });
    const { sessionHeaders: headers } = shop;
    const readPayments = async () =>
      (await rig.call(`/console/api/payment-links/${linkId}`, { headers })).json.payments;
    // An older record, consumed again from the log.
    await receiveDeposits(deposit);
    expect(await readPayments()).toMatchObject([{ applied: true, orphaned: true }]);
    const republishedAt = new Date(testStartTime.getTime() + 60_001);
    await receiveDepositsPublishedAt(republishedAt, deposit);
    const [payment] = await readPayments();
    expect(payment).toMatchObject({ applied: true });
    expect(payment).not.toHaveProperty("orphaned");
    expect((await shop.listDeposits("?decision=assigned")).data).toEqual([
      expect.objectContaining({ status: "settled" }),
    ]);
    expect((await rig.retrieve(linkId)).receivedAmount).toBe("10");
  });

  test("is not shown if no link was ever paid at its address", async () => {
    const shop = createShop();
    await receiveDeposits(createDeposit(shop));
    await shop.createLink();
    expect((await shop.listDeposits()).data).toEqual([]);
  });

  test("leaves the list when dismissed, and can still be assigned (rule CALLER-29)", async () => {
    const { deposit, linkId, shop } = await createShopWithDeposit();
    expect((await shop.dismiss(deposit.id)).json).toMatchObject({ decision: "dismissed" });
    expect((await shop.dismiss(deposit.id)).status).toBe(200);
    expect((await shop.listDeposits()).data).toEqual([]);
    expect((await shop.listDeposits("?decision=dismissed")).data).toHaveLength(1);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    const auditActions = (await rig.listAuditRecords(shop.account.id)).map(({ action }) => action);
    expect(auditActions).toEqual(["deposit.dismissed", "deposit.assigned"]);
  });
});

describe("a deposit at an address that many other accounts claimed first", () => {
  const claimAddress = async (address: string, count: number): Promise<void> => {
    for (let createdCount = 0; createdCount < count; createdCount += 1)
      await createShop(address).createLink({ toAmount: "1" });
  };

  test("reaches the last account, which can assign it (rule API-35)", async () => {
    const address = newAddress();
    await claimAddress(address, 25);
    const shop = createShop(address);
    const linkId = await shop.createLink();
    const deposit = createDeposit(shop);
    await receiveDeposits(deposit);
    expect((await shop.listDeposits()).data).toEqual([
      expect.objectContaining({
        id: deposit.id,
        decision: "unmatched",
        likelyLinks: [expect.objectContaining({ id: linkId })],
      }),
    ]);
    // A repeated request does not duplicate or lose the deposit.
    expect((await shop.listDeposits()).data).toHaveLength(1);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    expect(await rig.retrieve(linkId)).toMatchObject({ receivedAmount: "10" });
    expect((await shop.listDeposits()).data).toEqual([]);
    expect((await shop.listDeposits("?decision=assigned")).data).toHaveLength(1);
  });

  test("is in that account's export, unless it is orphaned", async () => {
    const address = newAddress();
    await claimAddress(address, 20);
    const shop = createShop(address);
    const linkId = await shop.createLink();
    const [orphaned, laterDeposit] = [createDeposit(shop), createDeposit(shop)];
    const seenDeposit = { ...laterDeposit, version: 1, status: "seen" } as const;
    await receiveDeposits(orphaned, seenDeposit);
    await receiveDeposits({ ...orphaned, version: 3, status: "orphaned" });
    expect((await shop.listDeposits()).data).toEqual([]);
    rig.clock.advance(60_000);
    await receiveDeposits(laterDeposit);
    const csvResponse = await rig.call("/console/api/deposits.csv", {
      headers: shop.sessionHeaders,
    });
    const lines = csvResponse.text.trim().split("\r\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(laterDeposit.id);
    await shop.assign(laterDeposit.id, linkId);
    await receiveDeposits({ ...laterDeposit, version: 3, status: "orphaned" });
    const link = await rig.call(`/console/api/payment-links/${linkId}`, {
      headers: shop.sessionHeaders,
    });
    expect(link.json.payments).toMatchObject([{ applied: true, orphaned: true }]);
  });

  test("is copied for a limited number of accounts until another one lists it", async () => {
    const address = newAddress();
    await claimAddress(address, 25);
    const deposit = createDeposit({ address });
    await receiveDeposits(deposit);
    const { count } = await rig.pool.one(sql.type(z.object({ count: z.int() }))`
      SELECT count(*)::int FROM deposits WHERE id = ${deposit.id}
    `);
    expect(count).toBe(21);
  });

  test("is not shown to an account that uses the address later", async () => {
    const address = newAddress();
    await claimAddress(address, 25);
    await receiveDeposits(createDeposit({ address }));
    rig.clock.advance(1_000);
    const lateShop = createShop(address);
    await lateShop.createLink();
    expect((await lateShop.listDeposits()).data).toEqual([]);
  });
});

describe("a deposit at the address of a test link", () => {
  test("is shown only in test mode, and can be assigned only to a test link (rule MODE-1)", async () => {
    const liveAddress = newAddress();
    const testAddress = newAddress();
    const account: Account = {
      ...sampleModeAccount(),
      wallets: sampleModeAccount().wallets.map((wallet) => ({
        ...wallet,
        walletAddress: wallet.mode === "test" ? testAddress : liveAddress,
      })),
    };
    const headers = { ...rig.createSessionHeaders(account), origin: "http://127.0.0.1" };
    const liveLinkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "10" });
    const testKey = rig.createKeyHeaders(account, { mode: "test" });
    const testLinkId = await rig.createLink(testKey, { toAmount: "10" });
    const live = createDeposit({ address: liveAddress });
    const { chainId, tokenAddress } = usdcOnBaseSepolia;
    const inTestMode = createDeposit(
      { address: testAddress },
      { chainId, tokenAddress, occurredAt: rig.clock.now() },
    );
    await receiveDeposits(live, inTestMode);
    const list = async (query: string) =>
      (await rig.call(`/console/api/deposits${query}`, { headers })).json.data;
    expect(await list("")).toMatchObject([{ id: live.id, mode: "live" }]);
    expect(await list("?mode=test")).toMatchObject([
      { id: inTestMode.id, mode: "test", likelyLinks: [{ id: testLinkId }] },
    ]);
    for (const [query, ownId, otherId] of [
      ["", live.id, inTestMode.id],
      ["?mode=test", inTestMode.id, live.id],
    ] as const) {
      const { text } = await rig.call(`/console/api/deposits.csv${query}`, { headers });
      expect(text).toContain(ownId);
      expect(text).not.toContain(otherId);
    }
    const assign = (depositId: string, paymentLinkId: string) =>
      rig.call(`/console/api/deposits/${depositId}/assign`, {
        method: "POST",
        headers,
        body: JSON.stringify({ paymentLinkId }),
      });
    expect((await assign(inTestMode.id, liveLinkId)).status).toBe(404);
    expect((await assign(live.id, testLinkId)).status).toBe(404);
    expect((await assign(inTestMode.id, testLinkId)).status).toBe(200);
  });
});
