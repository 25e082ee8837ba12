import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import {
  type Account,
  Decimal,
  type DepositState,
  newId,
  solanaReference,
  toEip55,
  tronFromHex,
} from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { keepDeposits } from "../events/keep-deposits.ts";
import { lockLinks } from "../store/links.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, start, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(openRig);

const newAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);

/** An account that is paid at an address of its own, with ways to act for it. */
const openShop = (
  walletAddress = newAddress(),
  change: Partial<Account["wallets"][number]> = {},
) => {
  const bare = sampleAccount();
  const account: Account = {
    ...bare,
    wallets: bare.wallets.map((wallet) => ({ ...wallet, walletAddress, ...change })),
  };
  const key = rig.giveKey(account);
  const session = rig.giveSession(account);
  const post = (path: string, body?: object) =>
    rig.call(`/console/api/deposits/${path}`, {
      method: "POST",
      headers: { ...session, origin: "http://127.0.0.1", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    account,
    session,
    address: walletAddress,
    open: (order: object = { toAmount: "10" }) => rig.createLink(key, order),
    list: async (query = "") =>
      (await rig.call(`/console/api/deposits${query}`, { headers: session })).json,
    assign: (depositId: string, paymentLinkId: string) =>
      post(`${depositId}/assign`, { paymentLinkId }),
    dismiss: (depositId: string) => post(`${depositId}/dismiss`),
  };
};
type Shop = ReturnType<typeof openShop>;

const depositTo = (
  { address }: Pick<Shop, "address">,
  { amount = "10", ...more }: Partial<Omit<DepositState, "amount">> & { amount?: string } = {},
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
  occurredAt: new Date(start.getTime() + 1_000),
  firstSeenAt: new Date(start.getTime() + 2_000),
  ...more,
});

/** The listener tells of deposits, all in one chunk. */
const tell = async (...deposits: readonly DepositState[]): Promise<void> => {
  const events = deposits.map((data) => ({
    data,
    envelope: {
      id: newId("evt"),
      type: `deposit.${data.status}`,
      key: data.id,
      occurredAt: start,
    },
    traceparent: undefined,
  }));
  const act = await rig.pool.transaction((tx) => keepDeposits(rig.deps)(tx, events));
  act?.();
};

/** What a deposit and its owner look like outside EVM, as settlement-listener tells of it. */
const outsideEvm: readonly (readonly [
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
      address: tronFromHex(randomBytes(20).toString("hex")),
      tokenAddress: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      payer: tronFromHex(randomBytes(20).toString("hex")),
      sourceTransaction: `0x${randomBytes(32).toString("hex")}`,
    },
  ],
  [
    "solana",
    {
      tokenId: "usdc-solana",
      chainType: "SVM",
      address: solanaReference(randomBytes(16).toString("hex")),
      tokenAddress: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      payer: solanaReference(randomBytes(16).toString("hex")),
      sourceTransaction:
        "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    },
  ],
];

const codeOf = ({ json, status }: { json: { errors?: { code: string }[] }; status: number }) =>
  `${status} ${json.errors?.[0]?.code ?? ""}`.trim();

const setUp = async (order?: object) => {
  const shop = openShop();
  const linkId = await shop.open(order);
  const deposit = depositTo(shop);
  await tell(deposit);
  return { shop, linkId, deposit };
};

describe("the list of deposits (rule CALLER-29)", () => {
  test("shows what reached an address at which the account's links are paid, and nobody else's", async () => {
    const { deposit, shop } = await setUp();
    const other = openShop();
    await other.open();
    const { data, nextOffset } = await shop.list();
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
    expect((await other.list()).data).toEqual([]);
  });

  test("shows a deposit to each account that is paid there, and what one decides to that one alone", async () => {
    const one = openShop();
    const two = openShop(one.address);
    await one.open();
    await two.open();
    const deposit = depositTo(one);
    await tell(deposit);
    expect((await one.dismiss(deposit.id)).status).toBe(200);
    expect((await one.list()).data).toEqual([]);
    expect((await two.list()).data).toEqual([expect.objectContaining({ decision: "unmatched" })]);
  });

  test("names likely links with their reasons, the likeliest first, and none by a strange token or address", async () => {
    const shop = openShop();
    const exact = await shop.open({ toAmount: "10" });
    const near = await shop.open({ toAmount: "11" });
    const sent = await shop.open({ toAmount: "50" });
    const payer = newAddress();
    const earlier = depositTo(shop, { amount: "1", payer });
    const deposit = depositTo(shop, { payer, firstSeenAt: new Date(start.getTime() + 9_000) });
    await tell(earlier, deposit);
    expect((await shop.assign(earlier.id, sent)).status).toBe(200);
    const [shown] = (await shop.list()).data;
    expect(
      shown.likelyLinks.map((one: { id: string; reasons: string[] }) => [one.id, one.reasons]),
    ).toEqual([
      [exact, ["amount", "time"]],
      [sent, ["sender", "time"]],
      [near, ["time"]],
    ]);
    const elsewhere = depositTo(shop, { tokenAddress: newAddress() });
    await tell(elsewhere);
    const strange = (await shop.list()).data.find((one: { id: string }) => one.id === elsewhere.id);
    expect(strange).toMatchObject({ token: null, likelyLinks: [] });
  });

  test("names a link that was made in the same second as the block, and none that was made later", async () => {
    const shop = openShop();
    const same = await shop.open({ toAmount: "10" });
    // Blocks tell whole seconds.
    const ofBlock = (date: string) => depositTo(shop, { occurredAt: new Date(date) });
    await rig.pool.query(nothing`
      UPDATE links SET created_at = '2026-11-21T10:00:00.999Z' WHERE id = ${same}
    `);
    const deposits = ["2026-11-21T10:00:00Z", "2026-11-21T09:59:59Z"].map(ofBlock);
    await tell(...deposits);
    const { data } = await shop.list();
    const linksOf = ({ id }: DepositState) =>
      data
        .find((one: { id: string }) => one.id === id)
        .likelyLinks.map((link: { id: string; reasons: string[] }) => [link.id, link.reasons]);
    expect(deposits.map(linksOf)).toEqual([[[same, ["amount", "time"]]], []]);
  });

  test("leaves out what its chain took away, and pages what is there", async () => {
    const shop = openShop();
    await shop.open();
    const deposits = Array.from({ length: 14 }, (_, index) =>
      depositTo(shop, { firstSeenAt: new Date(start.getTime() + index * 1_000) }),
    );
    await tell(...deposits);
    const [gone] = deposits;
    if (gone !== undefined) await tell({ ...gone, version: 3, status: "orphaned" });
    const found: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const page = await shop.list(`?offset=${offset}`);
      found.push(...page.data.map(({ id }: { id: string }) => id));
      offset = page.nextOffset;
    }
    expect(found).toEqual(
      deposits
        .slice(1)
        .toReversed()
        .map(({ id }) => id),
    );
  });

  test("is a file as well, with everything that was decided", async () => {
    const { deposit, linkId, shop } = await setUp();
    const dismissed = depositTo(shop, { payer: null });
    await tell(dismissed);
    await shop.assign(deposit.id, linkId);
    await shop.dismiss(dismissed.id);
    const answer = await rig.call("/console/api/deposits.csv", { headers: shop.session });
    const lines = answer.text.trim().split("\r\n");
    expect(answer.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(lines).toHaveLength(3);
    expect(lines.find((line) => line.includes(deposit.id))).toContain(linkId);
    const some = await rig.call("/console/api/deposits.csv?decision=dismissed", {
      headers: shop.session,
    });
    expect(some.text.trim().split("\r\n")).toHaveLength(2);
  });
});

describe("an assigned deposit (rule CALLER-29)", () => {
  test("is a payment of its link like any other, with its events and the audit log's entry", async () => {
    const { deposit, linkId, shop } = await setUp();
    const answer = await shop.assign(deposit.id, linkId);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      deposit: { decision: "assigned", paymentLinkId: linkId },
      payment: { applied: true, status: "settled", amount: "10", reason: null },
    });
    expect(await rig.retrieve(linkId)).toMatchObject({
      status: "completed",
      receivedAmount: "10",
    });
    const events = await rig.eventsOf(linkId);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      "payment_link.transaction.succeeded",
      "payment_link.completed",
    ]);
    expect(events[1]?.data.transaction).toMatchObject({
      id: answer.json.payment.id,
      sourceTransaction: deposit.sourceTransaction,
      amount: "10",
    });
    const audit = await rig.readAudit(shop.account.id);
    expect(audit.at(-1)).toMatchObject({
      action: "deposit.assigned",
      targetId: deposit.id,
      detail: { paymentLinkId: linkId },
    });
    expect((await shop.list("?decision=assigned")).data).toHaveLength(1);
  });

  test.each(outsideEvm)(
    "is shown and credited in the forms of %s as on EVM",
    async (chainId, { tokenId, chainType, address, ...more }) => {
      const shop = openShop(address, { tokenId, chainType });
      const linkId = await shop.open();
      const deposit = depositTo(shop, { chainId, ...more });
      await tell(deposit);
      const [shown] = (await shop.list()).data;
      expect(shown).toMatchObject({
        chainId,
        token: { address: more.tokenAddress },
        sender: more.payer,
        transactionUrl: expect.stringContaining(more.sourceTransaction.replace("0x", "")),
        likelyLinks: [{ id: linkId, reasons: ["amount", "time"] }],
      });
      const { json, status } = await shop.assign(deposit.id, linkId);
      expect(status).toBe(200);
      expect(json.payment).toMatchObject({ applied: true, amount: "10" });
      expect(await rig.retrieve(linkId)).toMatchObject({ status: "completed" });
    },
  );

  test("is refused for a look-alike of the link's token, whose symbol its owner is told (rule CHAIN-27)", async () => {
    const shop = openShop();
    const linkId = await shop.open();
    const usdbc = depositTo(shop, { tokenAddress: "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA" });
    const usdc = depositTo(shop, { firstSeenAt: new Date(start.getTime() + 1_000) });
    await tell(usdbc, usdc);
    const { data } = await shop.list();
    expect(data).toMatchObject([
      { id: usdbc.id, token: { symbol: "USDbC" }, lookalikeOf: "USDC", likelyLinks: [] },
      { id: usdc.id, token: { symbol: "USDC" }, lookalikeOf: null },
    ]);
    expect(codeOf(await shop.assign(usdbc.id, linkId))).toBe("409 DEPOSIT_WRONG_TOKEN");
    expect((await shop.dismiss(usdbc.id)).status).toBe(200);
  });

  test("is refused with a word for each reason, and changes nothing", async () => {
    const shop = openShop();
    const elsewhere = openShop();
    const linkId = await shop.open();
    const own = depositTo(shop);
    const seen = depositTo(shop, { status: "seen", version: 1 });
    const gone = depositTo(shop, { status: "orphaned", version: 3 });
    const strange = depositTo(shop, { tokenAddress: newAddress() });
    await tell(own, seen, gone, strange);
    const others = await elsewhere.open();
    expect(codeOf(await shop.assign(seen.id, linkId))).toBe("409 DEPOSIT_NOT_SETTLED");
    expect(codeOf(await shop.assign(gone.id, linkId))).toBe("409 DEPOSIT_ORPHANED");
    expect(codeOf(await shop.assign(strange.id, linkId))).toBe("409 DEPOSIT_WRONG_TOKEN");
    expect(codeOf(await shop.assign(own.id, others))).toBe("404 NOT_FOUND");
    expect(codeOf(await elsewhere.assign(own.id, others))).toBe("404 NOT_FOUND");
    expect(codeOf(await elsewhere.dismiss(own.id))).toBe("404 NOT_FOUND");
    expect(codeOf(await shop.assign(newId("dep"), linkId))).toBe("404 NOT_FOUND");
    expect(codeOf(await shop.assign("dep_x", linkId))).toBe("404 NOT_FOUND");
    expect(codeOf(await shop.assign(own.id, "plink_x"))).toBe("422 string_pattern_mismatch");
    expect((await rig.eventsOf(linkId)).map(({ type }) => type)).toEqual(["payment_link.created"]);
  });

  test("is refused by a link that is paid elsewhere, and by one that has ended", async () => {
    const shop = openShop();
    const first = await shop.open();
    const deposit = depositTo(shop);
    await tell(deposit);
    const account = {
      ...shop.account,
      version: shop.account.version + 1,
      wallets: shop.account.wallets.map((wallet) => ({ ...wallet, walletAddress: newAddress() })),
    };
    const paidElsewhere = await rig.createLink(rig.giveKey(account), { toAmount: "10" });
    expect(codeOf(await shop.assign(deposit.id, paidElsewhere))).toBe(
      "409 DEPOSIT_WRONG_DESTINATION",
    );
    const ended = await rig.call(`/console/api/payment-links/${first}/deactivate`, {
      method: "POST",
      headers: { ...shop.session, origin: "http://127.0.0.1" },
    });
    expect(ended.status).toBe(200);
    expect(codeOf(await shop.assign(deposit.id, first))).toBe("409 PAYMENT_LINK_NOT_ACTIVE");
    expect((await rig.retrieve(first)).receivedAmount).toBe("0");
  });

  test("is credited once, however many assign it at once and to whichever links", async () => {
    const { deposit, shop } = await setUp();
    const links = await Promise.all(
      Array.from({ length: 4 }, () => shop.open({ toAmount: "1000" })),
    );
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        shop.assign(deposit.id, links[index % links.length] ?? ""),
      ),
    );
    expect(answers.map(codeOf).toSorted()).toEqual([
      "200",
      ...Array.from({ length: 15 }, () => "409 DEPOSIT_ALREADY_ASSIGNED"),
    ]);
    const received = await Promise.all(
      links.map(async (id) => new Decimal((await rig.retrieve(id)).receivedAmount)),
    );
    expect(Decimal.sum(...received).toFixed()).toBe("10");
    const told = (await Promise.all(links.map((id) => rig.eventsOf(id)))).flat();
    expect(told.filter(({ type }) => type === "payment_link.transaction.succeeded")).toHaveLength(
      1,
    );
    expect(codeOf(await shop.dismiss(deposit.id))).toBe("409 DEPOSIT_ALREADY_ASSIGNED");
  });

  test("is credited once by two who both found it free, and wait for their links", async () => {
    const { deposit, shop } = await setUp();
    const links = [await shop.open({ toAmount: "1000" }), await shop.open({ toAmount: "1000" })];
    const { assigning } = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, links);
      const assigning = Promise.all(links.map((id) => shop.assign(deposit.id, id)));
      await rig.untilBlocked(tx, links.length);
      return { assigning };
    });
    const codes = (await assigning).map(codeOf);
    expect(codes.toSorted()).toEqual(["200", "409 DEPOSIT_ALREADY_ASSIGNED"]);
    const received = await Promise.all(
      links.map(async (id) => (await rig.retrieve(id)).receivedAmount),
    );
    expect(new Set(received)).toEqual(new Set(["0", "10"]));
  });

  test("takes its turn with the payments of the same link, and completes it once", async () => {
    const shop = openShop();
    const linkId = await shop.open({ toAmount: "1000", maxUsage: 1 });
    const deposits = Array.from({ length: 8 }, () => depositTo(shop));
    await tell(...deposits);
    const answers = await Promise.all(deposits.map(({ id }) => shop.assign(id, linkId)));
    expect(answers.map(codeOf).toSorted()).toEqual([
      "200",
      ...Array.from({ length: 7 }, () => "409 PAYMENT_LINK_NOT_ACTIVE"),
    ]);
    expect(await rig.retrieve(linkId)).toMatchObject({ status: "completed", receivedAmount: "10" });
  });

  test("meets a chain that takes it away at the same moment with one clear end", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { deposit, linkId, shop } = await setUp();
      const [answer] = await Promise.all([
        shop.assign(deposit.id, linkId),
        tell({ ...deposit, version: 3, status: "orphaned" }),
      ]);
      const link = await rig.call(`/console/api/payment-links/${linkId}`, {
        headers: shop.session,
      });
      if (answer.status === 200) {
        expect(link.json.payments).toEqual([
          expect.objectContaining({ applied: true, orphaned: true }),
        ]);
      } else {
        expect(codeOf(answer)).toBe("409 DEPOSIT_ORPHANED");
        expect(link.json).toMatchObject({ receivedAmount: "0", payments: [] });
      }
    }
  });

  test("keeps its credit where its chain takes it away later, and is flagged", async () => {
    const { deposit, linkId, shop } = await setUp();
    await shop.assign(deposit.id, linkId);
    await tell({ ...deposit, version: 3, status: "orphaned" });
    const link = await rig.call(`/console/api/payment-links/${linkId}`, { headers: shop.session });
    expect(link.json).toMatchObject({
      receivedAmount: "10",
      payments: [{ applied: true, orphaned: true }],
    });
    const [shown] = (await shop.list("?decision=assigned")).data;
    expect(shown).toMatchObject({ status: "orphaned", decision: "assigned" });
    expect((await rig.eventsOf(linkId)).map(({ type }) => type)).toHaveLength(3);
  });

  test("is flagged no more once its chain has it again", async () => {
    const { deposit, linkId, shop } = await setUp();
    await shop.assign(deposit.id, linkId);
    const { session: headers } = shop;
    const read = async () =>
      (await rig.call(`/console/api/payment-links/${linkId}`, { headers })).json;
    const before = [await read(), await rig.eventsOf(linkId)];
    await tell({ ...deposit, version: 3, status: "orphaned" });
    expect((await read()).payments).toMatchObject([{ applied: true, orphaned: true }]);
    await tell({ ...deposit, version: 4, status: "settled" });
    expect([await read(), await rig.eventsOf(linkId)]).toEqual(before);
    const [shown] = (await shop.list("?decision=assigned")).data;
    expect(shown).toMatchObject({ status: "settled", decision: "assigned" });
  });
});

describe("what is told of a deposit", () => {
  test("counts once, whatever is told again and in whatever order", async () => {
    const { deposit, linkId, shop } = await setUp();
    await tell({ ...deposit, version: 1, status: "seen" }, deposit, deposit);
    expect((await shop.list()).data).toEqual([expect.objectContaining({ status: "settled" })]);
    await shop.assign(deposit.id, linkId);
    await tell({ ...deposit, version: 1, status: "seen" }, deposit);
    expect((await rig.retrieve(linkId)).receivedAmount).toBe("10");
    expect((await shop.list("?decision=assigned")).data).toEqual([
      expect.objectContaining({ status: "settled" }),
    ]);
  });

  // Guards against a log that is read from its beginning once more (rule KEEP-5).
  test("is not taken away again by what was told before it came back", async () => {
    const { deposit, linkId, shop } = await setUp();
    const gone = { ...deposit, version: 3, status: "orphaned" } as const;
    const back = { ...deposit, version: 4 };
    await tell(gone);
    await tell(back);
    await tell(gone);
    await tell(back);
    expect((await shop.list()).data).toEqual([expect.objectContaining({ status: "settled" })]);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    const { session: headers } = shop;
    const read = async () =>
      (await rig.call(`/console/api/payment-links/${linkId}`, { headers })).json;
    const before = await read();
    await tell(gone);
    await tell(deposit, gone, back);
    expect(await read()).toEqual(before);
    await tell({ ...gone, version: 5 });
    expect((await read()).payments).toMatchObject([{ applied: true, orphaned: true }]);
  });

  test("in one chunk is not taken away again by what was told before it came back", async () => {
    const { deposit, shop } = await setUp();
    const fresh = depositTo(shop);
    const storyOf = (one: DepositState) =>
      [one, { ...one, version: 3, status: "orphaned" }, { ...one, version: 4 }] as const;
    const records = [...storyOf(deposit), ...storyOf(fresh)];
    await tell(...records, ...records);
    await tell(...records);
    for (const record of records) await tell(record);
    const { data } = await shop.list();
    expect(new Map(data.map(({ id, status }: DepositState) => [id, status]))).toEqual(
      new Map([deposit, fresh].map(({ id }) => [id, "settled"])),
    );
  });

  test("by a listener that was restored, takes it away once under a lower version", async () => {
    const { deposit, linkId, shop } = await setUp();
    await tell({ ...deposit, version: 7 });
    await tell({ ...deposit, version: 3, status: "orphaned" });
    expect((await shop.list()).data).toEqual([]);
    expect(codeOf(await shop.assign(deposit.id, linkId))).toBe("409 DEPOSIT_ORPHANED");
    await tell({ ...deposit, version: 8 });
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
  });

  test("is nobody's where no link was ever paid at its address", async () => {
    const shop = openShop();
    await tell(depositTo(shop));
    await shop.open();
    expect((await shop.list()).data).toEqual([]);
  });

  test("dismissed, leaves the list, and can still be assigned (rule CALLER-29)", async () => {
    const { deposit, linkId, shop } = await setUp();
    expect((await shop.dismiss(deposit.id)).json).toMatchObject({ decision: "dismissed" });
    expect((await shop.dismiss(deposit.id)).status).toBe(200);
    expect((await shop.list()).data).toEqual([]);
    expect((await shop.list("?decision=dismissed")).data).toHaveLength(1);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    const deeds = (await rig.readAudit(shop.account.id)).map(({ action }) => action);
    expect(deeds).toEqual(["deposit.dismissed", "deposit.assigned"]);
  });
});

describe("a deposit at an address that many strangers claimed before", () => {
  const claim = async (address: string, count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) await openShop(address).open({ toAmount: "1" });
  };

  test("reaches the account that came last, which assigns it (rule API-35)", async () => {
    const address = newAddress();
    await claim(address, 25);
    const shop = openShop(address);
    const linkId = await shop.open();
    const deposit = depositTo(shop);
    await tell(deposit);
    expect((await shop.list()).data).toEqual([
      expect.objectContaining({
        id: deposit.id,
        decision: "unmatched",
        likelyLinks: [expect.objectContaining({ id: linkId })],
      }),
    ]);
    // Listing again neither doubles it nor loses it.
    expect((await shop.list()).data).toHaveLength(1);
    expect((await shop.assign(deposit.id, linkId)).status).toBe(200);
    expect(await rig.retrieve(linkId)).toMatchObject({ receivedAmount: "10" });
    expect((await shop.list()).data).toEqual([]);
    expect((await shop.list("?decision=assigned")).data).toHaveLength(1);
  });

  test("is in the file of that account, and is not what its chain took away", async () => {
    const address = newAddress();
    await claim(address, 20);
    const shop = openShop(address);
    const linkId = await shop.open();
    const [gone, later] = [depositTo(shop), depositTo(shop)];
    const seen = { ...later, version: 1, status: "seen" } as const;
    await tell(gone, seen);
    await tell({ ...gone, version: 3, status: "orphaned" });
    expect((await shop.list()).data).toEqual([]);
    rig.clock.advance(60_000);
    await tell(later);
    const file = await rig.call("/console/api/deposits.csv", { headers: shop.session });
    const lines = file.text.trim().split("\r\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(later.id);
    await shop.assign(later.id, linkId);
    await tell({ ...later, version: 3, status: "orphaned" });
    const link = await rig.call(`/console/api/payment-links/${linkId}`, { headers: shop.session });
    expect(link.json.payments).toMatchObject([{ applied: true, orphaned: true }]);
  });

  test("is copied for a bounded number of accounts until one of the others looks", async () => {
    const address = newAddress();
    await claim(address, 25);
    const deposit = depositTo({ address });
    await tell(deposit);
    const { count } = await rig.pool.one(sql.type(z.object({ count: z.int() }))`
      SELECT count(*)::int FROM deposits WHERE id = ${deposit.id}
    `);
    expect(count).toBe(21);
  });

  test("is not shown to an account that comes to the address after it", async () => {
    const address = newAddress();
    await claim(address, 25);
    await tell(depositTo({ address }));
    rig.clock.advance(1_000);
    const late = openShop(address);
    await late.open();
    expect((await late.list()).data).toEqual([]);
  });
});
