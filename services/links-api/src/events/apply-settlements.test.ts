import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Account, Decimal } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { expireLinks } from "../jobs/expire-links.ts";
import { createRig } from "../testing/create-rig.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";
import { sampleAccount, sampleSettlement, testStartTime, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(createRig);
let account: Account;
let keyHeaders: Record<string, string>;
let sessionHeaders: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  keyHeaders = rig.createKeyHeaders(account);
  sessionHeaders = rig.createSessionHeaders(account);
});

const afterStart = (ms: number) => new Date(testStartTime.getTime() + ms);
const listEventTypes = async (id: string) => (await rig.listEvents(id)).map(({ type }) => type);
const listPayments = async (id: string) => {
  const path = `/console/api/payment-links/${id}`;
  return (await rig.call(path, { headers: sessionHeaders })).json.payments;
};

const succeeded = "payment_link.transaction.succeeded";
const completed = "payment_link.completed";
const unapplied = "payment_link.transaction.unapplied";

describe("applySettlements", () => {
  test("credits and publishes a partial payment once, with the resulting state (rules CALLER-7, EVENT-3 and HOOK-10)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "25", description: "Order 7" });
    const firstSeenAt = afterStart(-5000);
    const settlement = sampleSettlement(id, {
      amount: "10.50",
      payer: "0xdef",
      sourceTransaction: "0xabc",
      firstSeenAt,
    });
    await rig.settle(settlement);
    await rig.settle(settlement);
    await rig.settle({ ...settlement, version: 2 });

    const link = await rig.retrieve(id);
    expect(link).toMatchObject({ status: "active", receivedAmount: "10.5", transactionUrl: null });
    const [, event, ...otherEvents] = await rig.listEvents(id);
    expect(otherEvents).toEqual([]);
    expect(event?.type).toBe(succeeded);
    expect(event?.data).toEqual({
      link: {
        id,
        version: 2,
        userId: account.id,
        status: "active",
        toAmount: "25",
        receivedAmount: "10.5",
        currentUsage: 1,
        maxUsage: null,
        description: "Order 7",
        expirationDate: null,
        destinationAddress: link.destinationAddress,
        chainId: usdcOnBase.chainId,
        tokenAddress: usdcOnBase.tokenAddress,
        paymentReference: event?.data.link.paymentReference,
        mode: "live",
        dateCreated: testStartTime.toISOString(),
      },
      transaction: {
        id: settlement.id,
        status: "settled",
        amount: "10.5",
        tokenAddress: usdcOnBase.tokenAddress,
        chainId: usdcOnBase.chainId,
        sourceTransaction: "0xabc",
        dateCreated: firstSeenAt.toISOString(),
      },
    });
    expect(await listPayments(id)).toEqual([
      {
        id: settlement.id,
        status: "settled",
        applied: true,
        reason: null,
        amount: "10.5",
        tokenAddress: usdcOnBase.tokenAddress,
        chainId: usdcOnBase.chainId,
        sourceTransaction: "0xabc",
        dateCreated: firstSeenAt.toISOString(),
        sender: "0xdef",
        transactionUrl: null,
      },
    ]);
  });

  test("completes the link with the remaining amount, with two events of the same instant and state (rules EVENT-3, API-10, STATE-2 and HOOK-10)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "25" });
    await rig.settle(sampleSettlement(id, { amount: "10.5" }));
    const lastSettlement = sampleSettlement(id, { amount: "14.5" });
    rig.clock.advance(1_000);
    await rig.settle(lastSettlement);
    expect(await rig.retrieve(id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
      transactionUrl: `https://pay.example/tx/${lastSettlement.id}`,
    });
    const events = await rig.listEvents(id);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      succeeded,
      succeeded,
      completed,
    ]);
    const [, , succeededEvent, completedEvent] = events;
    const appliedAt = rig.clock.now();
    expect([succeededEvent?.occurredAt, completedEvent?.occurredAt]).toEqual([
      appliedAt,
      appliedAt,
    ]);
    expect(succeededEvent?.data.link).toEqual({ ...completedEvent?.data.link, version: 3 });
    expect(completedEvent?.data.link).toMatchObject({
      version: 4,
      status: "completed",
      currentUsage: 2,
    });
    expect(completedEvent?.data).not.toHaveProperty("transaction");
  });

  test("completes an underpaid link that reaches maxUsage, and credits an overpayment in full (rules STATE-2 and STATE-12)", async () => {
    const limitedLinkId = await rig.createLink(keyHeaders, { toAmount: "25", maxUsage: 2 });
    for (let count = 0; count < 2; count += 1) {
      await rig.settle(sampleSettlement(limitedLinkId, { amount: "1" }));
    }
    expect(await rig.retrieve(limitedLinkId)).toMatchObject({
      status: "completed",
      receivedAmount: "2",
    });
    const overpaidLinkId = await rig.createLink(keyHeaders, { toAmount: "25" });
    await rig.settle(sampleSettlement(overpaidLinkId, { amount: "100" }));
    expect(await rig.retrieve(overpaidLinkId)).toMatchObject({
      status: "completed",
      receivedAmount: "100",
    });
  });

  test("stores a payment on a completed link as unapplied, changes no amount, and publishes it once, whatever is reported later (rules STATE-9 and HOOK-21)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    await rig.settle(sampleSettlement(id, { amount: "5" }));
    const linkBefore = await rig.retrieve(id);
    rig.clock.advance(1_000);
    const lateSettlement = sampleSettlement(id, {
      amount: "5",
      firstSeenAt: afterStart(1),
      isOrphaned: false,
    });
    await rig.settle({ ...lateSettlement, status: "failed" });
    expect(await listEventTypes(id)).toEqual(["payment_link.created", succeeded, completed]);
    await rig.settle({ ...lateSettlement, version: 2 });
    expect(await rig.retrieve(id)).toEqual(linkBefore);
    const events = await rig.listEvents(id);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      succeeded,
      completed,
      unapplied,
    ]);
    const [, , completedEvent, unappliedEvent] = events;
    expect(unappliedEvent?.occurredAt).toEqual(rig.clock.now());
    expect(unappliedEvent?.data).toEqual({
      link: { ...completedEvent?.data.link, version: 4 },
      transaction: {
        id: lateSettlement.id,
        status: "settled",
        amount: "5",
        tokenAddress: lateSettlement.tokenAddress,
        chainId: lateSettlement.chainId,
        sourceTransaction: lateSettlement.sourceTransaction,
        dateCreated: afterStart(1).toISOString(),
        reason: "completed",
      },
    });
    await rig.settle({ ...lateSettlement, version: 2 });
    await rig.settle({ ...lateSettlement, version: 3, isOrphaned: true });
    await rig.settle({ ...lateSettlement, version: 4 });
    expect(await rig.listEvents(id)).toEqual(events);
    const payments = await listPayments(id);
    expect(payments.map((payment: PaymentResult) => [payment.applied, payment.reason])).toEqual([
      [false, "completed"],
      [true, null],
    ]);
  });

  test("stores and lists processing and failed payments without crediting them", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { status: "processing", amount: "4" });
    await rig.settle(firstSettlement);
    await rig.settle({ ...firstSettlement, version: 2, status: "failed" });
    const secondSettlement = sampleSettlement(id, {
      status: "processing",
      firstSeenAt: afterStart(1),
    });
    await rig.settle(secondSettlement);
    expect((await rig.retrieve(id)).receivedAmount).toBe("0");
    expect(await listEventTypes(id)).toEqual(["payment_link.created"]);
    const payments = await listPayments(id);
    expect(payments.map((payment: PaymentResult) => [payment.status, payment.applied])).toEqual([
      ["processing", false],
      ["failed", false],
    ]);
  });

  test("keeps the source id and first-seen time of the first step when two steps arrive together", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { status: "processing" });
    const otherIdentity = { source: "evm:8453", sourceId: "0xab", firstSeenAt: afterStart(1) };
    await rig.settle(firstSettlement, {
      ...firstSettlement,
      ...otherIdentity,
      version: 2,
      status: "settled",
    });
    const storedPayments = await findPayments(rig.pool, [firstSettlement.id]);
    const { source, sourceId } = firstSettlement;
    expect(storedPayments.get(firstSettlement.id)).toMatchObject({
      source,
      sourceId,
      firstSeenAt: testStartTime,
    });
  });

  test("keeps the first-seen time of the first step when a restored listener reports a later one", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { status: "processing", version: 2 });
    await rig.settle(firstSettlement);
    await rig.settle({
      ...firstSettlement,
      version: 1,
      status: "settled",
      firstSeenAt: afterStart(60_000),
    });
    const transactionEvents = (await rig.listEvents(id)).filter(
      ({ data }) => data.transaction !== undefined,
    );
    const creationTimes = transactionEvents.map(({ data }) => data.transaction.dateCreated);
    expect(creationTimes).toEqual([testStartTime.toISOString()]);
  });

  test("uses the values of the final notice when they differ from the first", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { status: "processing", amount: "1" });
    await rig.settle(firstSettlement);
    const finalSettlement = sampleSettlement(id, { amount: "2", sourceTransaction: "0xdef" });
    await rig.settle({
      ...finalSettlement,
      id: firstSettlement.id,
      sourceId: firstSettlement.sourceId,
      version: 2,
    });
    const [payment] = await listPayments(id);
    expect(payment).toMatchObject({ amount: "2", sourceTransaction: "0xdef", applied: true });
  });

  test("ignores an older version after a newer one", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settled = sampleSettlement(id, { version: 2, amount: "1" });
    await rig.settle(settled);
    await rig.settle({ ...settled, version: 1, status: "processing" });
    const [payment] = await listPayments(id);
    expect(payment).toMatchObject({ status: "settled", applied: true });
  });

  // Guards against ignoring a restored listener, which restarts the versions of a payment.
  test.each(["settled", "failed"] as const)(
    "accepts %s for a processing payment under a lower version",
    async (status) => {
      const id = await rig.createLink(keyHeaders, { toAmount: "5" });
      const firstSettlement = sampleSettlement(id, {
        status: "processing",
        amount: "1",
        version: 2,
      });
      await rig.settle(firstSettlement);
      await rig.settle({ ...firstSettlement, version: 1, status });
      await rig.settle({ ...firstSettlement, version: 1, status });
      expect(await listPayments(id)).toMatchObject([{ status, applied: status === "settled" }]);
      const receivedAmount = status === "settled" ? "1" : "0";
      expect(await rig.retrieve(id)).toMatchObject({ receivedAmount });
    },
  );

  test("credits a payment only once if it failed before, with the usual events (rule STATE-6)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { status: "failed", amount: "5" });
    await rig.settle(firstSettlement);
    expect(await listPayments(id)).toMatchObject([{ status: "failed", applied: false }]);
    const correctedSettlement = { ...firstSettlement, version: 2, status: "settled" as const };
    await rig.settle(correctedSettlement, correctedSettlement);
    await rig.settle(correctedSettlement);
    expect(await listPayments(id)).toMatchObject([{ status: "settled", applied: true }]);
    expect(await listEventTypes(id)).toEqual(["payment_link.created", succeeded, completed]);
    const warnings = rig.logLines.filter(
      (line) => line.includes("failed payment later settled") && line.includes(id),
    );
    expect(warnings).toEqual([expect.stringContaining(firstSettlement.id)]);
  });

  test("throws for an unknown link or for another payment with the same source id", async () => {
    const unknownLinkSettlement = sampleSettlement("plink_01m7y4kb9sfvktcnzb0r3g9a0s");
    await expect(rig.settle(unknownLinkSettlement)).rejects.toThrow(
      `payment link ${unknownLinkSettlement.paymentLinkId} not found`,
    );
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const firstSettlement = sampleSettlement(id, { amount: "1" });
    await rig.settle(firstSettlement);
    const sameSourceIdSettlement = sampleSettlement(id, {
      amount: "1",
      sourceId: firstSettlement.sourceId,
    });
    await expect(rig.settle(sameSourceIdSettlement)).rejects.toThrow();
    expect((await rig.retrieve(id)).receivedAmount).toBe("1");
  });
});

describe("a payment close to the expiry", () => {
  const expirationDate = afterStart(60_000).toISOString();

  test("started before the expiry is applied afterwards, whether or not the expiry job has run (rule STATE-8)", async () => {
    const ids = [
      await rig.createLink(keyHeaders, { toAmount: "5", expirationDate }),
      await rig.createLink(keyHeaders, { toAmount: "5", expirationDate }),
    ];
    const [earlyLinkId = "", expiredLinkId = ""] = ids;
    rig.clock.advance(60_000);
    await rig.settle(
      sampleSettlement(earlyLinkId, { amount: "1", occurredAt: afterStart(59_999) }),
    );
    expect(await rig.retrieve(earlyLinkId)).toMatchObject({
      status: "inactive",
      receivedAmount: "1",
    });
    const [, event] = await rig.listEvents(earlyLinkId);
    expect(event?.data.link).toMatchObject({ status: "inactive", version: 2 });

    await expireLinks(rig.dependencies).run();
    await rig.settle(
      sampleSettlement(expiredLinkId, { amount: "1", occurredAt: afterStart(59_999) }),
    );
    expect(await rig.retrieve(expiredLinkId)).toMatchObject({
      status: "inactive",
      receivedAmount: "1",
    });
    for (const id of ids) {
      await rig.settle(sampleSettlement(id, { amount: "4", occurredAt: afterStart(59_999) }));
      expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    }
    expect(await listEventTypes(expiredLinkId)).toEqual([
      "payment_link.created",
      succeeded,
      succeeded,
      completed,
    ]);
  });

  test("started at the expiry is unapplied with the reason expired (rule STATE-8)", async () => {
    const expiresAt = new Date(rig.clock.now().getTime() + 1000);
    const id = await rig.createLink(keyHeaders, {
      toAmount: "5",
      expirationDate: expiresAt.toISOString(),
    });
    rig.clock.advance(1000);
    await rig.settle(sampleSettlement(id, { amount: "5", occurredAt: expiresAt }));
    expect(await rig.retrieve(id)).toMatchObject({ status: "inactive", receivedAmount: "0" });
    expect((await listPayments(id))[0]).toMatchObject({ applied: false, reason: "expired" });
  });
});

const countOrphaned = async (): Promise<number> => {
  const name = "payment_links_payments_orphaned_total";
  const metric = await rig.directMetrics.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? 0;
};

describe("a payment orphaned after settling", () => {
  const readOrphanedFlag = async (id: string) => (await listPayments(id))[0]?.orphaned;

  test("keeps its credit, sends no event, and is flagged to its owner once (rule STATE-10)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5" });
    await rig.settle(settlement);
    const eventsBefore = await rig.listEvents(id);
    expect((await listPayments(id))[0]).not.toHaveProperty("orphaned");
    const countBefore = await countOrphaned();

    await rig.settle({ ...settlement, version: 2, isOrphaned: true, amount: new Decimal(1) });
    await rig.settle({ ...settlement, version: 2, isOrphaned: true });
    // A settlement without the flag does not change it.
    await rig.settle({ ...settlement, version: 3 });
    expect((await listPayments(id))[0]).toMatchObject({
      applied: true,
      amount: "5",
      orphaned: true,
    });
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    expect(await rig.listEvents(id)).toEqual(eventsBefore);
    expect((await countOrphaned()) - countBefore).toBe(1);
  });

  test("loses the flag when its chain has it again, and gets it again with the next reorg (rule STATE-10)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5", isOrphaned: false });
    await rig.settle({ ...settlement, status: "processing" });
    await rig.settle({ ...settlement, version: 2 });
    const stateBefore = [await rig.retrieve(id), await listPayments(id), await rig.listEvents(id)];
    const countBefore = await countOrphaned();
    const orphaned = { ...settlement, version: 3, isOrphaned: true };
    const returned = { ...settlement, version: 4, amount: new Decimal(1) };
    await rig.settle(orphaned);
    expect(await readOrphanedFlag(id)).toBe(true);
    await rig.settle(returned);
    expect([await rig.retrieve(id), await listPayments(id), await rig.listEvents(id)]).toEqual(
      stateBefore,
    );
    await rig.settle({ ...settlement, version: 5, isOrphaned: true });
    expect(await readOrphanedFlag(id)).toBe(true);
    await rig.settle({ ...settlement, version: 6, isOrphaned: true }, { ...returned, version: 7 });
    expect([await rig.retrieve(id), await listPayments(id), await rig.listEvents(id)]).toEqual(
      stateBefore,
    );
    expect((await countOrphaned()) - countBefore).toBe(2);
  });

  // Guards against wrong flags when a topic is replayed from the beginning (rule KEEP-5).
  test("is not flagged again by replayed reports from before its return", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5", isOrphaned: false });
    const records = [
      { ...settlement, status: "processing", blockNumber: null },
      { ...settlement, status: "processing", version: 2, isOrphaned: true },
      { ...settlement, version: 3 },
      { ...settlement, version: 4, isOrphaned: true },
      { ...settlement, version: 5 },
    ] as const;
    const settled = records.slice(0, 3);
    for (const record of settled) await rig.settle(record);
    await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      await rig.settle(...settled);
    });
    expect(await readOrphanedFlag(id)).toBeUndefined();
    for (const record of records) await rig.settle(record);
    for (const record of records) await rig.settle(record);
    expect(await readOrphanedFlag(id)).toBeUndefined();
    await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      await rig.settle(...records);
    });
    expect(await readOrphanedFlag(id)).toBeUndefined();
    // A restored listener can report the payment's state from before it settled.
    await rig.settle({ ...records[1], version: 6 });
    expect(await readOrphanedFlag(id)).toBeUndefined();
  });

  test.each([
    ["was never orphaned", []],
    ["was orphaned before it settled", [{ version: 1, isOrphaned: true, status: "processing" }]],
  ] as const)(
    "is flagged under a lower version, as from a restored listener, if it %s",
    async (_, earlierRecords) => {
      const id = await rig.createLink(keyHeaders, { toAmount: "5" });
      const settlement = sampleSettlement(id, { amount: "1", version: 3, isOrphaned: false });
      for (const record of earlierRecords) await rig.settle({ ...settlement, ...record });
      await rig.settle(settlement);
      await rig.settle({ ...settlement, version: 2, isOrphaned: true });
      expect(await listPayments(id)).toMatchObject([{ applied: true, orphaned: true }]);
    },
  );
});

describe("replayed settlements", () => {
  test("change nothing and take no lock, but later statuses and new payments among them are applied (rule KEEP-5)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "25" });
    const settled = sampleSettlement(id, { amount: "1" });
    const processingSettlement = sampleSettlement(id, {
      status: "processing",
      version: 2,
      amount: "2",
    });
    const orphaned = sampleSettlement(id, { amount: "4" });
    await rig.settle(settled, processingSettlement, orphaned);
    const stateBefore = [await listPayments(id), await rig.listEvents(id)];
    await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      await rig.settle(settled, { ...processingSettlement, version: 1 }, orphaned);
    });
    expect([await listPayments(id), await rig.listEvents(id)]).toEqual(stateBefore);

    const newSettlement = sampleSettlement(id, { amount: "8" });
    await rig.settle(
      settled,
      { ...processingSettlement, version: 1, status: "settled" },
      { ...orphaned, isOrphaned: true },
      { ...processingSettlement, version: 1 },
      newSettlement,
    );
    const paymentsById = new Map(
      (await listPayments(id)).map((payment: ListedPayment) => [payment.id, payment] as const),
    );
    expect(paymentsById.get(processingSettlement.id)).toMatchObject({
      status: "settled",
      applied: true,
    });
    expect(paymentsById.get(orphaned.id)).toMatchObject({ applied: true, orphaned: true });
    expect(paymentsById.get(newSettlement.id)).toMatchObject({ applied: true });
    expect(await rig.retrieve(id)).toMatchObject({ receivedAmount: "15" });
    expect((await rig.listEvents(id)).map(({ data }) => data.link.version)).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  test("that name a different link than before are rejected, alone and in a chunk", async () => {
    const [id, otherLinkId] = [
      await rig.createLink(keyHeaders, { toAmount: "25" }),
      await rig.createLink(keyHeaders, { toAmount: "25" }),
    ];
    const settled = sampleSettlement(id);
    await rig.settle(settled);
    const movedSettlement = { ...settled, paymentLinkId: otherLinkId };
    const errorMessage = "the payment belongs to another link";
    await expect(rig.settle(movedSettlement)).rejects.toThrow(errorMessage);
    await expect(rig.settle(settled, movedSettlement)).rejects.toThrow(errorMessage);
    await expect(rig.settle(sampleSettlement(otherLinkId), movedSettlement)).rejects.toThrow(
      errorMessage,
    );
  });
});

describe("concurrent payments on one link", () => {
  test("keep sum, usage, events and versions exact for 50 payments (rules KEEP-1 and KEEP-2)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "1000", maxUsage: 50 });
    const settlements = Array.from({ length: 50 }, () => sampleSettlement(id, { amount: "0.1" }));
    // Each event arrives twice, as it would after a redelivery.
    await Promise.all([...settlements, ...settlements].map((settlement) => rig.settle(settlement)));
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    const events = await rig.listEvents(id);
    expect(events.map(({ data }) => data.link.version)).toEqual(
      Array.from({ length: 52 }, (_, index) => index + 1),
    );
    expect(events.filter(({ type }) => type === succeeded)).toHaveLength(50);
    expect(events.filter(({ type }) => type === completed)).toHaveLength(1);
    expect(new Set(events.map(({ data }) => data.transaction?.id)).size).toBe(51);
  });
});

describe("an unapplied payment that is evaluated again after a restore", () => {
  test("is published under the same event id (rules EVENT-7 and HOOK-21)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5", chainId: "1" });
    const listUnapplied = async () =>
      (await rig.listEvents(id)).filter(({ type }) => type === unapplied);
    await rig.settle(settlement);
    const eventsBefore = await listUnapplied();
    await rig.pool.query(sqlVoid`DELETE FROM outbox WHERE key = ${id} AND type = ${unapplied}`);
    await rig.pool.query(
      sqlVoid`DELETE FROM unapplied_payments WHERE payment_id = ${settlement.id}`,
    );
    await rig.pool.query(sqlVoid`DELETE FROM payments WHERE link_id = ${id}`);
    await rig.settle(settlement);
    const eventsAfter = await listUnapplied();
    expect(eventsBefore).toHaveLength(1);
    expect(eventsAfter.map((event) => event.id)).toEqual(eventsBefore.map((event) => event.id));
  });
});

describe("a payment that is applied again after a restore", () => {
  test("is published under the same event ids even though the versions differ (rule EVENT-7)", async () => {
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5" });
    const listPublishedEvents = async () => (await rig.listEvents(id)).slice(1);
    await rig.settle(settlement);
    const eventsBefore = await listPublishedEvents();
    await rig.pool.query(
      sqlVoid`DELETE FROM outbox WHERE key = ${id} AND type <> 'payment_link.created'`,
    );
    await rig.pool.query(sqlVoid`DELETE FROM payments WHERE link_id = ${id}`);
    await rig.pool.query(sqlVoid`
      UPDATE links SET received_amount = 0, current_usage = 0, version = 7, status = 'active',
        last_transaction_id = NULL
      WHERE id = ${id}
    `);
    rig.clock.advance(60_000);
    await rig.settle(settlement);
    const eventsAfter = await listPublishedEvents();
    expect(eventsBefore.map(({ type }) => type)).toEqual([succeeded, completed]);
    expect(eventsAfter.map((event) => event.id)).toEqual(eventsBefore.map((event) => event.id));
    expect(eventsAfter.map(({ data }) => data.link.version)).toEqual([8, 9]);
  });
});

type PaymentResult = { applied: boolean; reason: string | null; status: string };
type ListedPayment = PaymentResult & { id: string };
