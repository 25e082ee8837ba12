import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import {
  type Account,
  Decimal,
  type DepositState,
  type SettlementState,
  newId,
  toEip55,
} from "@payment-links/contracts";
import { type Transaction, nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lockLinks } from "../store/links.ts";
import { lockReports } from "../store/reports.ts";
import { explain, rowsLookedAt, scansOf } from "../testing/explain.ts";
import { openRig } from "../testing/open-rig.ts";
import {
  sampleAccount,
  sampleChainNames,
  sampleSettlement,
  start,
  usdcOnBase,
} from "../testing/samples.ts";
import { keepDeposits } from "./keep-deposits.ts";

const rig = useRig(openRig);

const newAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);
const newHash = () => `0x${randomBytes(32).toString("hex")}`;

/** An account that is paid at an address of its own. */
const openShop = (address = newAddress(), wallet: Partial<Account["wallets"][number]> = {}) => {
  const account: Account = sampleAccount();
  const key = rig.giveKey({
    ...account,
    wallets: account.wallets.map((one) => ({ ...one, walletAddress: address, ...wallet })),
  });
  const session = rig.giveSession(account);
  const read = async (path: string) =>
    (await rig.call(`/console/api/${path}`, { headers: session })).json;
  return {
    address,
    open: (wanted: { toAmount?: string; expirationDate?: string } = {}) =>
      rig.createLink(key, { toAmount: "100", ...wanted }),
    read,
    assign: (depositId: string, paymentLinkId: string) =>
      rig.call(`/console/api/deposits/${depositId}/assign`, {
        method: "POST",
        headers: { ...session, origin: "http://127.0.0.1", "content-type": "application/json" },
        body: JSON.stringify({ paymentLinkId }),
      }),
    /** Each payment of a link: its amount, whether it is applied or why not, oldest amount last. */
    paymentsOf: async (linkId: string): Promise<string[]> =>
      (await read(`payment-links/${linkId}`)).payments
        .map((one: { amount: string; reason: string | null; status: string }) =>
          [one.amount, one.reason ?? (one.status === "settled" ? "applied" : one.status)].join(" "),
        )
        .toSorted(),
  };
};
type Shop = ReturnType<typeof openShop>;

type Transfer = { shop: Shop; linkId: string; hash: string; amount?: string };

/** A notice of a provider. */
const noticeOf = (
  { amount = "10", hash, linkId, shop }: Transfer,
  more: Partial<Omit<SettlementState, "amount">> = {},
): SettlementState =>
  sampleSettlement(linkId, {
    amount,
    sourceTransaction: hash,
    destinationAddress: shop.address,
    ...more,
  });

/** A payment that the watch of the chain found: the one of this number in its transaction. */
const foundOf = (
  transfer: Transfer,
  { number = 0, ...more }: Partial<Omit<SettlementState, "amount">> & { number?: number } = {},
): SettlementState => {
  const { chainId = usdcOnBase.chainId } = more;
  const names = { chainId, transactionHash: transfer.hash, linkId: transfer.linkId, number };
  return noticeOf(transfer, { ...sampleChainNames(names), ...more });
};

const depositOf = ({ amount = "10", hash, shop }: Omit<Transfer, "linkId">): DepositState => ({
  id: newId("dep"),
  version: 2,
  status: "settled",
  amount: new Decimal(amount),
  tokenAddress: usdcOnBase.tokenAddress,
  chainId: usdcOnBase.chainId,
  destinationAddress: shop.address,
  payer: newAddress(),
  sourceTransaction: hash,
  occurredAt: new Date(start.getTime() + 1_000),
  firstSeenAt: new Date(start.getTime() + 2_000),
});

const receiveDeposit = async (deposit: DepositState): Promise<void> => {
  const envelope = {
    id: newId("evt"),
    type: "deposit.settled",
    key: deposit.id,
    occurredAt: start,
  };
  const act = await rig.pool.transaction((tx) =>
    keepDeposits(rig.deps)(tx, [{ data: deposit, envelope, traceparent: undefined }]),
  );
  act?.();
};

/** When the links that expire do. */
const expiry = new Date(start.getTime() + 60_000);

const receivedBy = async (linkId: string): Promise<string> =>
  (await rig.retrieve(linkId)).receivedAmount;

const permute = (items: readonly number[]): number[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) =>
        permute(items.filter((one) => one !== item)).map((rest) => [item, ...rest]),
      );

const setUp = async (more: Partial<Transfer> = {}) => {
  const shop = openShop();
  const linkId = await shop.open();
  return { shop, linkId, hash: newHash(), ...more };
};

const orders = [
  ["the chain first", false],
  ["the notice first", true],
] as const;

describe("a transfer that the watched chain and a provider's notice report", () => {
  test.each(orders)("counts once, %s (rule STATE-14)", async (_order, isNoticeFirst) => {
    const transfer = await setUp();
    const reports = [foundOf(transfer), noticeOf(transfer)];
    for (const one of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(one);
    expect(await receivedBy(transfer.linkId)).toBe("10");
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual(["10 applied", "10 duplicate"]);
    expect((await rig.eventsOf(transfer.linkId)).map(({ type }) => type)).toEqual([
      "payment_link.created",
      "payment_link.transaction.succeeded",
    ]);
  });

  test.each([
    ["in capitals", (hash: string) => `0x${hash.slice(2).toUpperCase()}`],
    ["without its prefix", (hash: string) => hash.slice(2)],
    ["in capitals, prefix included", (hash: string) => hash.toUpperCase()],
  ])("counts once with its hash %s", async (_form, respell) => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await setUp();
      const reports = [foundOf(transfer), noticeOf({ ...transfer, hash: respell(transfer.hash) })];
      for (const one of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(one);
      expect(await receivedBy(transfer.linkId)).toBe("10");
    }
  });

  test.each([
    [
      "solana",
      "usdc-solana",
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      "1nc1nerator11111111111111111111111111111111",
    ],
    [
      "tron",
      "usdt-tron",
      "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      "T9yD14Nj9j7xAB4dbGeiX9h8upfCg3PBbY",
    ],
  ] as const)("counts once on %s too", async (chainId, tokenId, tokenAddress, address) => {
    const shop = openShop(address, { tokenId, chainType: chainId === "tron" ? "TVM" : "SVM" });
    const linkId = await shop.open();
    const signature =
      "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
    const hash = chainId === "tron" ? newHash() : signature;
    const place = { chainId, tokenAddress };
    await rig.settle(noticeOf({ shop, linkId, hash }, place));
    await rig.settle(foundOf({ shop, linkId, hash }, place));
    expect(await receivedBy(linkId)).toBe("10");
    // Base58 tells case apart: this is another transaction.
    const other = chainId === "tron" ? newHash() : signature.toLowerCase();
    await rig.settle(foundOf({ shop, linkId, hash: other }, place));
    expect(await receivedBy(linkId)).toBe("20");
  });

  test("counts once when both come in one chunk, and when two providers report it as well", async () => {
    const transfer = await setUp();
    const other = noticeOf(transfer, { source: "provider:other" });
    await rig.settle(noticeOf(transfer), foundOf(transfer), other);
    expect(await receivedBy(transfer.linkId)).toBe("10");
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual([
      "10 applied",
      "10 duplicate",
      "10 duplicate",
    ]);
  });

  test("counts once when both are processed at the same time, whichever links they name", async () => {
    for (const isSameLink of [true, false]) {
      const transfer = await setUp();
      const otherId = isSameLink ? transfer.linkId : await transfer.shop.open();
      const { pending } = await rig.pool.transaction(async (tx) => {
        // Both have begun before either one can end.
        await lockLinks(tx, [transfer.linkId, otherId]);
        const reports = [noticeOf(transfer), foundOf({ ...transfer, linkId: otherId })];
        const pending = Promise.all(reports.map((one) => rig.settle(one)));
        await rig.untilBlocked(tx, 2);
        return { pending };
      });
      await pending;
      const links = [...new Set([transfer.linkId, otherId])];
      const received = await Promise.all(links.map(receivedBy));
      expect(Decimal.sum(0, ...received).toFixed()).toBe("10");
    }
  });

  test("is a second payment of a completed link only if it is another transfer", async () => {
    const shop = openShop();
    const linkId = await shop.open({ toAmount: "10" });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(noticeOf(transfer));
    await rig.settle(foundOf(transfer));
    await rig.settle(foundOf({ ...transfer, hash: newHash() }));
    expect(await shop.paymentsOf(linkId)).toEqual(["10 applied", "10 completed", "10 duplicate"]);
    // The owner decides about the second payment, not about the second report.
    const { unapplied } = await shop.read("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "completed" }] });
  });

  test("repeats the one that counts where an earlier report did not (rule STATE-14)", async () => {
    const shop = openShop();
    const linkId = await shop.open({ expirationDate: expiry.toISOString() });
    const transfer = { shop, linkId, hash: newHash() };
    const late = noticeOf(transfer, { occurredAt: expiry });
    const repeat = noticeOf(transfer, { source: "provider:other", occurredAt: expiry });
    await rig.settle(late);
    await rig.settle(repeat);
    expect(await shop.paymentsOf(linkId)).toEqual(["10 duplicate", "10 expired"]);
    // The chain's watch saw it before the expiry, in a block that came after (rule STATE-15).
    const found = foundOf(transfer, {
      occurredAt: expiry,
      witnessedAt: new Date(expiry.getTime() - 1),
    });
    await rig.settle(found);
    expect(await shop.paymentsOf(linkId)).toEqual(["10 applied", "10 duplicate", "10 duplicate"]);
    const { payments } = await shop.read(`payment-links/${linkId}`);
    const originals = payments.map((one: { duplicateOf?: string }) => one.duplicateOf);
    expect(originals.filter((one: unknown) => one === found.id)).toHaveLength(2);
    expect((await shop.read("overview")).unapplied).toMatchObject({ count: 0, payments: [] });
    expect(await receivedBy(linkId)).toBe("10");
  });

  test("is shown as doubtful where an earlier report with another amount did not count", async () => {
    const shop = openShop();
    const linkId = await shop.open({ expirationDate: expiry.toISOString() });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(noticeOf({ ...transfer, amount: "9.7" }, { occurredAt: expiry }));
    await rig.settle(foundOf(transfer));
    expect(await shop.paymentsOf(linkId)).toEqual(["10 applied", "9.7 conflict"]);
    expect((await shop.read("overview")).unapplied).toMatchObject({ count: 1 });
  });

  test("counts once where the chain's report fails, and settles after the notice", async () => {
    const transfer = await setUp();
    await rig.settle(foundOf(transfer, { status: "failed" }));
    await rig.settle(noticeOf(transfer));
    await rig.settle(foundOf(transfer, { version: 2 }));
    expect(await receivedBy(transfer.linkId)).toBe("10");
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual(["10 applied", "10 duplicate"]);
  });

  test("names the payment that counts", async () => {
    const transfer = await setUp();
    const found = foundOf(transfer);
    await rig.settle(found);
    await rig.settle(noticeOf(transfer));
    const { payments } = await transfer.shop.read(`payment-links/${transfer.linkId}`);
    const isDuplicate = ({ reason }: { reason: string | null }) => reason === "duplicate";
    expect(payments.find(isDuplicate)).toMatchObject({ duplicateOf: found.id });
    expect(payments.find((one: { applied: boolean }) => one.applied)).not.toHaveProperty(
      "duplicateOf",
    );
  });

  test("is pending once while both wait", async () => {
    const transfer = await setUp();
    const waiting = { status: "processing" as const };
    await rig.settle(noticeOf(transfer, waiting), foundOf(transfer, waiting));
    const { json } = await rig.call(`/checkout/payment-links/${transfer.linkId}`);
    expect(json.pendingPayments).toHaveLength(1);
  });
});

describe("several transfers of one transaction", () => {
  test("count each, and a notice that may mean any of them adds nothing and is shown (rule NOTICE-7)", async () => {
    const transfer = await setUp();
    await rig.settle(foundOf(transfer), foundOf(transfer, { number: 1 }));
    await rig.settle(noticeOf(transfer));
    expect(await receivedBy(transfer.linkId)).toBe("20");
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual([
      "10 applied",
      "10 applied",
      "10 conflict",
    ]);
    const { unapplied } = await transfer.shop.read("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "conflict" }] });
  });

  test("count each where the notice comes first", async () => {
    const transfer = await setUp();
    await rig.settle(noticeOf(transfer));
    await rig.settle(foundOf(transfer));
    await rig.settle(foundOf(transfer, { number: 1 }));
    expect(await receivedBy(transfer.linkId)).toBe("20");
  });

  test("count once where a notice adds them up, in both orders", async () => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await setUp();
      const found = [foundOf(transfer), foundOf(transfer, { number: 1 })];
      const sum = noticeOf({ ...transfer, amount: "20" });
      for (const one of isNoticeFirst ? [sum, ...found] : [...found, sum]) await rig.settle(one);
      expect(await receivedBy(transfer.linkId)).toBe("20");
      expect((await transfer.shop.paymentsOf(transfer.linkId)).join()).toContain("conflict");
    }
  });

  test("count each where a notice means the second one and the first one settles before it", async () => {
    const transfer = await setUp();
    const second = { ...transfer, amount: "5" };
    const waiting = { status: "processing" as const };
    await rig.settle(foundOf(transfer, waiting), foundOf(second, { number: 1, ...waiting }));
    await rig.settle(noticeOf(second));
    await rig.settle(foundOf(transfer, { version: 2 }));
    await rig.settle(foundOf(second, { number: 1, version: 2 }));
    expect(await receivedBy(transfer.linkId)).toBe("15");
  });

  test("count each, once it is known which of them a notice means, in every order (rule STATE-14)", async () => {
    for (const order of permute([0, 1, 2])) {
      const transfer = await setUp();
      const second = { ...transfer, amount: "5" };
      const reports = [noticeOf(second), foundOf(transfer), foundOf(second, { number: 1 })];
      for (const index of order) await rig.settle(...reports.slice(index, index + 1));
      expect([order, await receivedBy(transfer.linkId)]).toEqual([order, "15"]);
      expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual([
        "10 applied",
        "5 applied",
        "5 duplicate",
      ]);
      const { unapplied } = await transfer.shop.read("overview");
      expect(unapplied).toMatchObject({ count: 0 });
      expect(await rig.eventsOf(transfer.linkId)).toHaveLength(3);
    }
  });

  test("are no surplus where a notice means the one that completes the link", async () => {
    const shop = openShop();
    const linkId = await shop.open({ toAmount: "5" });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(noticeOf({ ...transfer, amount: "5" }));
    await rig.settle(foundOf(transfer), foundOf({ ...transfer, amount: "5" }, { number: 1 }));
    expect(await shop.paymentsOf(linkId)).toEqual(["10 completed", "5 applied", "5 duplicate"]);
    const { unapplied } = await shop.read("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "completed" }] });
  });

  test("that two notices of one provider report alike count once until the chain shows two", async () => {
    const transfer = await setUp();
    await rig.settle(noticeOf(transfer));
    await rig.settle(noticeOf(transfer));
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual(["10 applied", "10 conflict"]);
    await rig.settle(foundOf(transfer));
    expect(await receivedBy(transfer.linkId)).toBe("10");
    await rig.settle(foundOf(transfer, { number: 1 }));
    expect(await receivedBy(transfer.linkId)).toBe("20");
  });

  test("to different links, addresses or tokens count each", async () => {
    const transfer = await setUp();
    const otherLink = await transfer.shop.open();
    await rig.settle(foundOf(transfer));
    await rig.settle(foundOf({ ...transfer, linkId: otherLink }));
    expect(await Promise.all([transfer.linkId, otherLink].map(receivedBy))).toEqual(["10", "10"]);
    const elsewhere = await setUp({ hash: transfer.hash });
    await rig.settle(noticeOf(elsewhere));
    expect(await receivedBy(elsewhere.linkId)).toBe("10");
  });

  test("are told apart from a notice with another amount, which counts once and is shown", async () => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await setUp();
      const reports = [foundOf(transfer), noticeOf({ ...transfer, amount: "9.7" })];
      for (const one of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(one);
      expect(await receivedBy(transfer.linkId)).toBe(isNoticeFirst ? "9.7" : "10");
      expect((await transfer.shop.paymentsOf(transfer.linkId)).join()).toContain("conflict");
    }
  });
});

describe("a transfer that a provider's notice and a deposit report", () => {
  test("counts once, and the owner is told why the deposit cannot be assigned (rule CALLER-29)", async () => {
    const transfer = await setUp();
    await rig.settle(noticeOf(transfer));
    const deposit = depositOf(transfer);
    await receiveDeposit(deposit);
    const [listed] = (await transfer.shop.read("deposits")).data;
    expect(listed).toMatchObject({
      countedAs: { paymentLinkId: transfer.linkId },
      likelyLinks: [],
    });
    const answer = await transfer.shop.assign(deposit.id, transfer.linkId);
    expect([answer.status, answer.json.errors?.[0]?.code]).toEqual([
      409,
      "DEPOSIT_ALREADY_APPLIED",
    ]);
    expect(await receivedBy(transfer.linkId)).toBe("10");
  });

  test("counts once where the deposit was assigned before the notice came", async () => {
    const transfer = await setUp();
    const deposit = depositOf(transfer);
    await receiveDeposit(deposit);
    expect((await transfer.shop.assign(deposit.id, transfer.linkId)).status).toBe(200);
    await rig.settle(noticeOf({ ...transfer, hash: transfer.hash.toUpperCase() }));
    expect(await receivedBy(transfer.linkId)).toBe("10");
    expect(await transfer.shop.paymentsOf(transfer.linkId)).toEqual(["10 applied", "10 duplicate"]);
  });

  test("counts once when the notice and the assignment come at the same time", async () => {
    const transfer = await setUp();
    const other = await transfer.shop.open();
    const deposit = depositOf(transfer);
    await receiveDeposit(deposit);
    const { pending } = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [transfer.linkId, other]);
      const pending = Promise.all([
        rig.settle(noticeOf(transfer)),
        transfer.shop.assign(deposit.id, other),
      ]);
      await rig.untilBlocked(tx, 2);
      return { pending };
    });
    await pending;
    const received = await Promise.all([transfer.linkId, other].map(receivedBy));
    expect(Decimal.sum(0, ...received).toFixed()).toBe("10");
  });

  test("of another account at the same address blocks nobody's payment", async () => {
    const transfer = await setUp();
    const stranger = openShop(transfer.shop.address);
    const strangersLink = await stranger.open();
    const deposit = depositOf(transfer);
    await receiveDeposit(deposit);
    expect((await stranger.assign(deposit.id, strangersLink)).status).toBe(200);
    await rig.settle(noticeOf(transfer));
    expect(await receivedBy(transfer.linkId)).toBe("10");
  });
});

// Guards against a look-up that grows with all payments.
test("the reports of a transaction are found by an index, however many payments there are", async () => {
  const transfer = await setUp();
  await rig.settle(foundOf(transfer));
  const plans = await rig.pool.transaction(async (tx) => {
    await tx.query(nothing`SAVEPOINT before_all`);
    await tx.query(nothing`
      INSERT INTO payments (
        id, link_id, version, source, source_id, status, is_applied, amount, token_address, chain_id,
        destination_address, source_transaction, occurred_at, first_seen_at
      )
      SELECT 'tx_' || number, ${transfer.linkId}, 1, 'evm:8453', number, 'processing', false, 1, '0x',
        ${usdcOnBase.chainId}, '0x', 'hash ' || number, now(), now()
      FROM generate_series(1, 5000) AS number
    `);
    const notice = noticeOf(transfer);
    const explained = await explain(tx, (db) => lockReports(db as Transaction, [notice]));
    await tx.query(nothing`ROLLBACK TO SAVEPOINT before_all`);
    return explained;
  });
  const scans = scansOf(plans).filter((scan) => scan["Relation Name"] === "payments");
  expect(scans).toHaveLength(1);
  expect(rowsLookedAt(scans)).toBe(1);
});
