import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/chains";
import {
  type Account,
  Decimal,
  type DepositState,
  type SettlementState,
  newId,
} from "@payment-links/contracts";
import { type Transaction, sqlVoid, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lockLinks } from "../store/links.ts";
import { lockReports } from "../store/payment-reports.ts";
import { explainQueries, countScannedRows, listScans } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import {
  sampleAccount,
  samplePaymentIdentity,
  sampleSettlement,
  testStartTime,
  usdcOnBase,
} from "../testing/samples.ts";
import { saveDeposits } from "./save-deposits.ts";

const rig = useRig(createRig);

const newAddress = () => toEip55(`0x${randomBytes(20).toString("hex")}`);
const newHash = () => `0x${randomBytes(32).toString("hex")}`;

/** Creates an account with its own payment address. */
const createShop = (address = newAddress(), wallet: Partial<Account["wallets"][number]> = {}) => {
  const account: Account = sampleAccount();
  const key = rig.createKeyHeaders({
    ...account,
    wallets: account.wallets.map((accountWallet) => ({
      ...accountWallet,
      walletAddress: address,
      ...wallet,
    })),
  });
  const sessionHeaders = rig.createSessionHeaders(account);
  const readJson = async (path: string) =>
    (await rig.call(`/console/api/${path}`, { headers: sessionHeaders })).json;
  return {
    address,
    createLink: (overrides: { toAmount?: string; expirationDate?: string } = {}) =>
      rig.createLink(key, { toAmount: "100", ...overrides }),
    readJson,
    assign: (depositId: string, paymentLinkId: string) =>
      rig.call(`/console/api/deposits/${depositId}/assign`, {
        method: "POST",
        headers: {
          ...sessionHeaders,
          origin: "http://127.0.0.1",
          "content-type": "application/json",
        },
        body: JSON.stringify({ paymentLinkId }),
      }),
    /** Lists a link's payments as sorted text: the amount, then "applied" or the reason. */
    listPayments: async (linkId: string): Promise<string[]> =>
      (await readJson(`payment-links/${linkId}`)).payments
        .map((payment: { amount: string; reason: string | null; status: string }) =>
          [
            payment.amount,
            payment.reason ?? (payment.status === "settled" ? "applied" : payment.status),
          ].join(" "),
        )
        .toSorted(),
  };
};
type Shop = ReturnType<typeof createShop>;

type Transfer = { shop: Shop; linkId: string; hash: string; amount?: string };

/** Creates a provider's notice. */
const createNotice = (
  { amount = "10", hash, linkId, shop }: Transfer,
  overrides: Partial<Omit<SettlementState, "amount">> = {},
): SettlementState =>
  sampleSettlement(linkId, {
    amount,
    sourceTransaction: hash,
    destinationAddress: shop.address,
    ...overrides,
  });

/**
 * Creates a payment that settlement-listener found on the chain, with its number in the
 * transaction.
 */
const createChainPayment = (
  transfer: Transfer,
  { number = 0, ...overrides }: Partial<Omit<SettlementState, "amount">> & { number?: number } = {},
): SettlementState => {
  const { chainId = usdcOnBase.chainId } = overrides;
  const identity = { chainId, transactionHash: transfer.hash, linkId: transfer.linkId, number };
  return createNotice(transfer, { ...samplePaymentIdentity(identity), ...overrides });
};

const createDeposit = ({ amount = "10", hash, shop }: Omit<Transfer, "linkId">): DepositState => ({
  id: newId("dep"),
  version: 2,
  status: "settled",
  amount: new Decimal(amount),
  tokenAddress: usdcOnBase.tokenAddress,
  chainId: usdcOnBase.chainId,
  destinationAddress: shop.address,
  payer: newAddress(),
  sourceTransaction: hash,
  occurredAt: new Date(testStartTime.getTime() + 1_000),
  firstSeenAt: new Date(testStartTime.getTime() + 2_000),
});

const receiveDeposit = async (deposit: DepositState): Promise<void> => {
  const envelope = {
    id: newId("evt"),
    type: "deposit.settled",
    key: deposit.id,
    occurredAt: testStartTime,
  };
  await transact(rig.pool, (tx) =>
    saveDeposits(rig.dependencies)(tx, [{ data: deposit, envelope, traceparent: undefined }]),
  );
};

/** The expiry of those links that expire. */
const expiry = new Date(testStartTime.getTime() + 60_000);

const getReceivedAmount = async (linkId: string): Promise<string> =>
  (await rig.retrieve(linkId)).receivedAmount;

/** Lists a link's events about payments: the kind, the payment's id and the reason. */
const listPaymentEvents = async (linkId: string): Promise<string[]> =>
  (await rig.listEvents(linkId)).flatMap(({ type, data: { transaction } }) =>
    transaction === undefined
      ? []
      : [type.replace("payment_link.transaction.", ""), transaction.id, transaction.reason ?? ""]
          .join(" ")
          .trim(),
  );

const permute = (items: readonly number[]): number[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) =>
        permute(items.filter((other) => other !== item)).map((remainingPermutation) => [
          item,
          ...remainingPermutation,
        ]),
      );

const createTransfer = async (overrides: Partial<Transfer> = {}) => {
  const shop = createShop();
  const linkId = await shop.createLink();
  return { shop, linkId, hash: newHash(), ...overrides };
};

const reportOrders = [
  ["the chain first", false],
  ["the notice first", true],
] as const;

describe("a transfer reported by both the chain watch and a provider's notice", () => {
  test.each(reportOrders)(
    "is credited once, %s (rule STATE-14)",
    async (_description, isNoticeFirst) => {
      const transfer = await createTransfer();
      const reports = [createChainPayment(transfer), createNotice(transfer)];
      for (const report of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(report);
      expect(await getReceivedAmount(transfer.linkId)).toBe("10");
      expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
        "10 applied",
        "10 duplicate",
      ]);
      expect((await rig.listEvents(transfer.linkId)).map(({ type }) => type)).toEqual([
        "payment_link.created",
        "payment_link.transaction.succeeded",
      ]);
    },
  );

  test.each([
    ["in uppercase", (hash: string) => `0x${hash.slice(2).toUpperCase()}`],
    ["without its prefix", (hash: string) => hash.slice(2)],
    ["in uppercase including the prefix", (hash: string) => hash.toUpperCase()],
  ])("is credited once with its hash %s", async (_spelling, changeSpelling) => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await createTransfer();
      const reports = [
        createChainPayment(transfer),
        createNotice({ ...transfer, hash: changeSpelling(transfer.hash) }),
      ];
      for (const report of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(report);
      expect(await getReceivedAmount(transfer.linkId)).toBe("10");
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
  ] as const)("is credited once on %s", async (chainId, tokenId, tokenAddress, address) => {
    const shop = createShop(address, { tokenId, chainType: chainId === "tron" ? "TVM" : "SVM" });
    const linkId = await shop.createLink();
    const signature =
      "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
    const hash = chainId === "tron" ? newHash() : signature;
    const chainToken = { chainId, tokenAddress };
    await rig.settle(createNotice({ shop, linkId, hash }, chainToken));
    await rig.settle(createChainPayment({ shop, linkId, hash }, chainToken));
    expect(await getReceivedAmount(linkId)).toBe("10");
    // Base58 is case-sensitive, so this is another transaction.
    const otherHash = chainId === "tron" ? newHash() : signature.toLowerCase();
    await rig.settle(createChainPayment({ shop, linkId, hash: otherHash }, chainToken));
    expect(await getReceivedAmount(linkId)).toBe("20");
  });

  test("is credited once when both reports and another provider's notice arrive in one chunk", async () => {
    const transfer = await createTransfer();
    const otherNotice = createNotice(transfer, { source: "provider:other" });
    await rig.settle(createNotice(transfer), createChainPayment(transfer), otherNotice);
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
    expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
      "10 applied",
      "10 duplicate",
      "10 duplicate",
    ]);
  });

  test("is credited once when both are processed concurrently, for the same link or for different links", async () => {
    for (const isSameLink of [true, false]) {
      const transfer = await createTransfer();
      const otherLinkId = isSameLink ? transfer.linkId : await transfer.shop.createLink();
      const { pendingWork } = await rig.pool.transaction(async (tx) => {
        // Neither settlement can finish before both have started.
        await lockLinks(tx, [transfer.linkId, otherLinkId]);
        const reports = [
          createNotice(transfer),
          createChainPayment({ ...transfer, linkId: otherLinkId }),
        ];
        const pendingWork = Promise.all(reports.map((report) => rig.settle(report)));
        await rig.waitUntilBlocked(tx, 2);
        return { pendingWork };
      });
      await pendingWork;
      const links = [...new Set([transfer.linkId, otherLinkId])];
      const received = await Promise.all(links.map(getReceivedAmount));
      expect(Decimal.sum(0, ...received).toFixed()).toBe("10");
    }
  });

  test("adds a second payment to a completed link only if it is another transfer", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ toAmount: "10" });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(createNotice(transfer));
    await rig.settle(createChainPayment(transfer));
    await rig.settle(createChainPayment({ ...transfer, hash: newHash() }));
    expect(await shop.listPayments(linkId)).toEqual(["10 applied", "10 completed", "10 duplicate"]);
    // The owner has to decide about the second payment, but not about the second report of the
    // first one.
    const { unapplied } = await shop.readJson("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "completed" }] });
  });

  test("turns earlier unapplied reports into duplicates of the applied one, which is published after them (rules STATE-14 and HOOK-21)", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ expirationDate: expiry.toISOString() });
    const transfer = { shop, linkId, hash: newHash() };
    const lateNotice = createNotice(transfer, { occurredAt: expiry });
    const repeatedNotice = createNotice(transfer, { source: "provider:other", occurredAt: expiry });
    await rig.settle(lateNotice);
    await rig.settle(repeatedNotice);
    expect(await shop.listPayments(linkId)).toEqual(["10 duplicate", "10 expired"]);
    // settlement-listener saw the payment before the expiry, but its block is later than the expiry
    // (rule STATE-15).
    const chainPayment = createChainPayment(transfer, {
      occurredAt: expiry,
      witnessedAt: new Date(expiry.getTime() - 1),
    });
    await rig.settle(chainPayment);
    expect(await shop.listPayments(linkId)).toEqual(["10 applied", "10 duplicate", "10 duplicate"]);
    const { payments } = await shop.readJson(`payment-links/${linkId}`);
    const originalIds = payments.map((payment: { duplicateOf?: string }) => payment.duplicateOf);
    expect(
      originalIds.filter((originalId: unknown) => originalId === chainPayment.id),
    ).toHaveLength(2);
    expect((await shop.readJson("overview")).unapplied).toMatchObject({ count: 0, payments: [] });
    expect(await getReceivedAmount(linkId)).toBe("10");
    expect(await listPaymentEvents(linkId)).toEqual([
      `unapplied ${lateNotice.id} expired`,
      `succeeded ${chainPayment.id}`,
    ]);
  });

  test("is published as unapplied only once, even if it was a conflict in between (rule HOOK-21)", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ expirationDate: expiry.toISOString() });
    const transfer = { shop, linkId, hash: newHash() };
    const lateNotice = createNotice({ ...transfer, amount: "9.7" }, { occurredAt: expiry });
    const chainPayment = createChainPayment(transfer);
    await rig.settle(lateNotice);
    await rig.settle(chainPayment);
    expect(await shop.listPayments(linkId)).toEqual(["10 applied", "9.7 conflict"]);
    // The provider's exact notice shows that its first notice was about another transfer.
    await rig.settle(createNotice(transfer));
    expect(await shop.listPayments(linkId)).toEqual(["10 applied", "10 duplicate", "9.7 expired"]);
    expect(await listPaymentEvents(linkId)).toEqual([
      `unapplied ${lateNotice.id} expired`,
      `succeeded ${chainPayment.id}`,
    ]);
  });

  test("is flagged as a conflict when an unapplied earlier report had a different amount", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ expirationDate: expiry.toISOString() });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(createNotice({ ...transfer, amount: "9.7" }, { occurredAt: expiry }));
    await rig.settle(createChainPayment(transfer));
    expect(await shop.listPayments(linkId)).toEqual(["10 applied", "9.7 conflict"]);
    expect((await shop.readJson("overview")).unapplied).toMatchObject({ count: 1 });
  });

  test("is credited once when the chain's report fails first and settles after the notice", async () => {
    const transfer = await createTransfer();
    await rig.settle(createChainPayment(transfer, { status: "failed" }));
    await rig.settle(createNotice(transfer));
    await rig.settle(createChainPayment(transfer, { version: 2 }));
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
    expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
      "10 applied",
      "10 duplicate",
    ]);
  });

  test("shows the id of the applied payment on the duplicate", async () => {
    const transfer = await createTransfer();
    const chainPayment = createChainPayment(transfer);
    await rig.settle(chainPayment);
    await rig.settle(createNotice(transfer));
    const { payments } = await transfer.shop.readJson(`payment-links/${transfer.linkId}`);
    const isDuplicate = ({ reason }: { reason: string | null }) => reason === "duplicate";
    expect(payments.find(isDuplicate)).toMatchObject({ duplicateOf: chainPayment.id });
    expect(payments.find((payment: { applied: boolean }) => payment.applied)).not.toHaveProperty(
      "duplicateOf",
    );
  });

  test("is pending once while both reports are processing", async () => {
    const transfer = await createTransfer();
    const processingState = { status: "processing" as const };
    await rig.settle(
      createNotice(transfer, processingState),
      createChainPayment(transfer, processingState),
    );
    const { json } = await rig.call(`/checkout/payment-links/${transfer.linkId}`);
    expect(json.pendingPayments).toHaveLength(1);
  });
});

describe("several transfers in one transaction", () => {
  test("are each credited, and an ambiguous notice is not credited but shown (rule NOTICE-7)", async () => {
    const transfer = await createTransfer();
    await rig.settle(createChainPayment(transfer), createChainPayment(transfer, { number: 1 }));
    await rig.settle(createNotice(transfer));
    expect(await getReceivedAmount(transfer.linkId)).toBe("20");
    expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
      "10 applied",
      "10 applied",
      "10 conflict",
    ]);
    const { unapplied } = await transfer.shop.readJson("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "conflict" }] });
    // The notice may be a further report of one of these transfers, so it has no event.
    const paymentEvents = await listPaymentEvents(transfer.linkId);
    expect(paymentEvents).toEqual([
      expect.stringMatching(/^succeeded /),
      expect.stringMatching(/^succeeded /),
    ]);
  });

  test("are each credited when the notice arrives first", async () => {
    const transfer = await createTransfer();
    await rig.settle(createNotice(transfer));
    await rig.settle(createChainPayment(transfer));
    await rig.settle(createChainPayment(transfer, { number: 1 }));
    expect(await getReceivedAmount(transfer.linkId)).toBe("20");
  });

  test("are credited once when a notice reports their sum, in either order", async () => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await createTransfer();
      const chainPayments = [
        createChainPayment(transfer),
        createChainPayment(transfer, { number: 1 }),
      ];
      const summedNotice = createNotice({ ...transfer, amount: "20" });
      for (const report of isNoticeFirst
        ? [summedNotice, ...chainPayments]
        : [...chainPayments, summedNotice])
        await rig.settle(report);
      expect(await getReceivedAmount(transfer.linkId)).toBe("20");
      expect((await transfer.shop.listPayments(transfer.linkId)).join()).toContain("conflict");
    }
  });

  test("are each credited when a notice matches the second and the first settles earlier", async () => {
    const transfer = await createTransfer();
    const secondTransfer = { ...transfer, amount: "5" };
    const processingState = { status: "processing" as const };
    await rig.settle(
      createChainPayment(transfer, processingState),
      createChainPayment(secondTransfer, { number: 1, ...processingState }),
    );
    await rig.settle(createNotice(secondTransfer));
    await rig.settle(createChainPayment(transfer, { version: 2 }));
    await rig.settle(createChainPayment(secondTransfer, { number: 1, version: 2 }));
    expect(await getReceivedAmount(transfer.linkId)).toBe("15");
  });

  test("are each credited once the notice's transfer is known, in every order (rule STATE-14)", async () => {
    for (const order of permute([0, 1, 2])) {
      const transfer = await createTransfer();
      const secondTransfer = { ...transfer, amount: "5" };
      const reports = [
        createNotice(secondTransfer),
        createChainPayment(transfer),
        createChainPayment(secondTransfer, { number: 1 }),
      ];
      for (const index of order) await rig.settle(...reports.slice(index, index + 1));
      expect([order, await getReceivedAmount(transfer.linkId)]).toEqual([order, "15"]);
      expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
        "10 applied",
        "5 applied",
        "5 duplicate",
      ]);
      const { unapplied } = await transfer.shop.readJson("overview");
      expect(unapplied).toMatchObject({ count: 0 });
      expect(await rig.listEvents(transfer.linkId)).toHaveLength(3);
    }
  });

  test("leave only the other transfer unapplied when a notice matches the one that completes the link, and publish it once (rule HOOK-21)", async () => {
    const shop = createShop();
    const linkId = await shop.createLink({ toAmount: "5" });
    const transfer = { shop, linkId, hash: newHash() };
    await rig.settle(createNotice({ ...transfer, amount: "5" }));
    await rig.settle(
      createChainPayment(transfer),
      createChainPayment({ ...transfer, amount: "5" }, { number: 1 }),
    );
    expect(await shop.listPayments(linkId)).toEqual(["10 completed", "5 applied", "5 duplicate"]);
    const { unapplied } = await shop.readJson("overview");
    expect(unapplied).toMatchObject({ count: 1, payments: [{ reason: "completed" }] });
    const [succeededEvent, ...laterEvents] = await listPaymentEvents(linkId);
    expect(succeededEvent).toMatch(/^succeeded /);
    expect(laterEvents).toEqual([expect.stringMatching(/^unapplied \S+ completed$/)]);
  });

  test("are credited once for two equal notices of one provider, until the chain shows two", async () => {
    const transfer = await createTransfer();
    await rig.settle(createNotice(transfer));
    await rig.settle(createNotice(transfer));
    expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
      "10 applied",
      "10 conflict",
    ]);
    await rig.settle(createChainPayment(transfer));
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
    await rig.settle(createChainPayment(transfer, { number: 1 }));
    expect(await getReceivedAmount(transfer.linkId)).toBe("20");
  });

  test("are each credited when links, addresses or tokens differ", async () => {
    const transfer = await createTransfer();
    const otherLinkId = await transfer.shop.createLink();
    await rig.settle(createChainPayment(transfer));
    await rig.settle(createChainPayment({ ...transfer, linkId: otherLinkId }));
    expect(await Promise.all([transfer.linkId, otherLinkId].map(getReceivedAmount))).toEqual([
      "10",
      "10",
    ]);
    const otherTransfer = await createTransfer({ hash: transfer.hash });
    await rig.settle(createNotice(otherTransfer));
    expect(await getReceivedAmount(otherTransfer.linkId)).toBe("10");
  });

  test("include one reported with a different amount, which is credited once and flagged as a conflict", async () => {
    for (const isNoticeFirst of [false, true]) {
      const transfer = await createTransfer();
      const reports = [createChainPayment(transfer), createNotice({ ...transfer, amount: "9.7" })];
      for (const report of isNoticeFirst ? reports.toReversed() : reports) await rig.settle(report);
      expect(await getReceivedAmount(transfer.linkId)).toBe(isNoticeFirst ? "9.7" : "10");
      expect((await transfer.shop.listPayments(transfer.linkId)).join()).toContain("conflict");
    }
  });
});

describe("a transfer reported by both a provider's notice and a deposit", () => {
  test("is credited once, and the owner sees why the deposit cannot be assigned (rule CALLER-29)", async () => {
    const transfer = await createTransfer();
    await rig.settle(createNotice(transfer));
    const deposit = createDeposit(transfer);
    await receiveDeposit(deposit);
    const [listedDeposit] = (await transfer.shop.readJson("deposits")).data;
    expect(listedDeposit).toMatchObject({
      countedAs: { paymentLinkId: transfer.linkId },
      likelyLinks: [],
    });
    const response = await transfer.shop.assign(deposit.id, transfer.linkId);
    expect([response.status, response.json.errors?.[0]?.code]).toEqual([
      409,
      "DEPOSIT_ALREADY_APPLIED",
    ]);
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
  });

  test("is credited once when the deposit was assigned before the notice arrived", async () => {
    const transfer = await createTransfer();
    const deposit = createDeposit(transfer);
    await receiveDeposit(deposit);
    expect((await transfer.shop.assign(deposit.id, transfer.linkId)).status).toBe(200);
    await rig.settle(createNotice({ ...transfer, hash: transfer.hash.toUpperCase() }));
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
    expect(await transfer.shop.listPayments(transfer.linkId)).toEqual([
      "10 applied",
      "10 duplicate",
    ]);
  });

  test("is credited once when notice and assignment are concurrent", async () => {
    const transfer = await createTransfer();
    const otherLinkId = await transfer.shop.createLink();
    const deposit = createDeposit(transfer);
    await receiveDeposit(deposit);
    const { pendingWork } = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [transfer.linkId, otherLinkId]);
      const pendingWork = Promise.all([
        rig.settle(createNotice(transfer)),
        transfer.shop.assign(deposit.id, otherLinkId),
      ]);
      await rig.waitUntilBlocked(tx, 2);
      return { pendingWork };
    });
    await pendingWork;
    const received = await Promise.all([transfer.linkId, otherLinkId].map(getReceivedAmount));
    expect(Decimal.sum(0, ...received).toFixed()).toBe("10");
  });

  test("does not block a payment of another account at the same address", async () => {
    const transfer = await createTransfer();
    const otherShop = createShop(transfer.shop.address);
    const otherShopLinkId = await otherShop.createLink();
    const deposit = createDeposit(transfer);
    await receiveDeposit(deposit);
    expect((await otherShop.assign(deposit.id, otherShopLinkId)).status).toBe(200);
    await rig.settle(createNotice(transfer));
    expect(await getReceivedAmount(transfer.linkId)).toBe("10");
  });
});

// Guards against a query whose cost grows with the number of payments.
test("lockReports finds the reports of a transaction by an index", async () => {
  const transfer = await createTransfer();
  await rig.settle(createChainPayment(transfer));
  const plans = await rig.pool.transaction(async (tx) => {
    await tx.query(sqlVoid`SAVEPOINT before_all`);
    await tx.query(sqlVoid`
      INSERT INTO payments (
        id, link_id, version, source, source_id, status, is_applied, amount, token_address, chain_id,
        destination_address, source_transaction, occurred_at, first_seen_at
      )
      SELECT 'tx_' || number, ${transfer.linkId}, 1, 'evm:8453', number, 'processing', false, 1, '0x',
        ${usdcOnBase.chainId}, '0x', 'hash ' || number, now(), now()
      FROM generate_series(1, 5000) AS number
    `);
    const notice = createNotice(transfer);
    const queryPlans = await explainQueries(tx, (db) => lockReports(db as Transaction, [notice]));
    await tx.query(sqlVoid`ROLLBACK TO SAVEPOINT before_all`);
    return queryPlans;
  });
  const scans = listScans(plans).filter((scan) => scan["Relation Name"] === "payments");
  expect(scans).toHaveLength(1);
  expect(countScannedRows(scans)).toBe(1);
});
