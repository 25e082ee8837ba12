import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Account, Decimal } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { expireLinks } from "../jobs/expire-links.ts";
import { openRig } from "../testing/open-rig.ts";
import { lockLinks } from "../store/links.ts";
import { findPayments } from "../store/payments.ts";
import { sampleAccount, sampleSettlement, start, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(openRig);
let account: Account;
let key: Record<string, string>;
let session: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  key = rig.giveKey(account);
  session = rig.giveSession(account);
});

const later = (ms: number) => new Date(start.getTime() + ms);
const typesOf = async (id: string) => (await rig.eventsOf(id)).map(({ type }) => type);
const paymentsOf = async (id: string) => {
  const path = `/console/api/payment-links/${id}`;
  return (await rig.call(path, { headers: session })).json.payments;
};

const succeeded = "payment_link.transaction.succeeded";
const completed = "payment_link.completed";

describe("a settled payment", () => {
  test("given a part of the amount, is credited and told once, with the state after it (rules CALLER-7, EVENT-3 and HOOK-10)", async () => {
    const id = await rig.createLink(key, { toAmount: "25", description: "Order 7" });
    const firstSeenAt = later(-5000);
    const settlement = sampleSettlement(id, {
      amount: "10.50",
      sourceTransaction: "0xabc",
      firstSeenAt,
    });
    await rig.settle(settlement);
    await rig.settle(settlement);
    await rig.settle({ ...settlement, version: 2 });

    const link = await rig.retrieve(id);
    expect(link).toMatchObject({ status: "active", receivedAmount: "10.5", transactionUrl: null });
    const [, event, ...rest] = await rig.eventsOf(id);
    expect(rest).toEqual([]);
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
        dateCreated: start.toISOString(),
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
    expect(await paymentsOf(id)).toEqual([
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
      },
    ]);
  });

  test("given the rest of the amount, completes the link, with two events of one instant and one state (rules EVENT-3, API-10, STATE-2 and HOOK-10)", async () => {
    const id = await rig.createLink(key, { toAmount: "25" });
    await rig.settle(sampleSettlement(id, { amount: "10.5" }));
    const last = sampleSettlement(id, { amount: "14.5" });
    rig.clock.advance(1_000);
    await rig.settle(last);
    expect(await rig.retrieve(id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
      transactionUrl: `https://pay.example/tx/${last.id}`,
    });
    const events = await rig.eventsOf(id);
    expect(events.map(({ type }) => type)).toEqual([
      "payment_link.created",
      succeeded,
      succeeded,
      completed,
    ]);
    const [, , paid, done] = events;
    const appliedAt = rig.clock.now();
    expect([paid?.occurredAt, done?.occurredAt]).toEqual([appliedAt, appliedAt]);
    expect(paid?.data.link).toEqual({ ...done?.data.link, version: 3 });
    expect(done?.data.link).toMatchObject({ version: 4, status: "completed", currentUsage: 2 });
    expect(done?.data).not.toHaveProperty("transaction");
  });

  test("given maxUsage reached, completes an underpaid link; more than the amount simply counts (rules STATE-2 and STATE-12)", async () => {
    const byUsage = await rig.createLink(key, { toAmount: "25", maxUsage: 2 });
    for (let count = 0; count < 2; count += 1) {
      await rig.settle(sampleSettlement(byUsage, { amount: "1" }));
    }
    expect(await rig.retrieve(byUsage)).toMatchObject({ status: "completed", receivedAmount: "2" });
    const over = await rig.createLink(key, { toAmount: "25" });
    await rig.settle(sampleSettlement(over, { amount: "100" }));
    expect(await rig.retrieve(over)).toMatchObject({ status: "completed", receivedAmount: "100" });
  });

  test("given a completed link, is kept as unapplied, and changes and tells nothing (rule STATE-9)", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    await rig.settle(sampleSettlement(id, { amount: "5" }));
    const before = [await rig.retrieve(id), await typesOf(id)];
    await rig.settle(sampleSettlement(id, { amount: "5", firstSeenAt: later(1) }));
    expect([await rig.retrieve(id), await typesOf(id)]).toEqual(before);
    const payments = await paymentsOf(id);
    expect(payments.map((payment: Payment) => [payment.applied, payment.reason])).toEqual([
      [false, "completed"],
      [true, null],
    ]);
  });

  test("given a processing or failed one, it is kept and shown, and counts for nothing", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { status: "processing", amount: "4" });
    await rig.settle(first);
    await rig.settle({ ...first, version: 2, status: "failed" });
    const second = sampleSettlement(id, { status: "processing", firstSeenAt: later(1) });
    await rig.settle(second);
    expect((await rig.retrieve(id)).receivedAmount).toBe("0");
    expect(await typesOf(id)).toEqual(["payment_link.created"]);
    const payments = await paymentsOf(id);
    expect(payments.map((payment: Payment) => [payment.status, payment.applied])).toEqual([
      ["processing", false],
      ["failed", false],
    ]);
  });

  test("given two of its steps at once, keeps the name and the instant that the first one told", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { status: "processing" });
    const renamed = { source: "evm:8453", sourceId: "0xab", firstSeenAt: later(1) };
    await rig.settle(first, { ...first, ...renamed, version: 2, status: "settled" });
    const kept = await findPayments(rig.pool, [first.id]);
    const { source, sourceId } = first;
    expect(kept.get(first.id)).toMatchObject({ source, sourceId, firstSeenAt: start });
  });

  test("given a first sight by a listener that was restored since, tells the instant that the first one told", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { status: "processing", version: 2 });
    await rig.settle(first);
    await rig.settle({ ...first, version: 1, status: "settled", firstSeenAt: later(60_000) });
    const told = (await rig.eventsOf(id)).filter(({ data }) => data.transaction !== undefined);
    const instants = told.map(({ data }) => data.transaction.dateCreated);
    expect(instants).toEqual([start.toISOString()]);
  });

  test("given the final notice with other values than the first, the final ones count", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { status: "processing", amount: "1" });
    await rig.settle(first);
    const final = sampleSettlement(id, { amount: "2", sourceTransaction: "0xdef" });
    await rig.settle({ ...final, id: first.id, sourceId: first.sourceId, version: 2 });
    const [payment] = await paymentsOf(id);
    expect(payment).toMatchObject({ amount: "2", sourceTransaction: "0xdef", applied: true });
  });

  test("given an older version after a newer one, the older is ignored", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const settled = sampleSettlement(id, { version: 2, amount: "1" });
    await rig.settle(settled);
    await rig.settle({ ...settled, version: 1, status: "processing" });
    const [payment] = await paymentsOf(id);
    expect(payment).toMatchObject({ status: "settled", applied: true });
  });

  // Guards against a restored listener, which counts the versions of a payment anew.
  test.each(["settled", "failed"] as const)(
    "given it %s under a version that was heard of as processing, takes the step",
    async (status) => {
      const id = await rig.createLink(key, { toAmount: "5" });
      const first = sampleSettlement(id, { status: "processing", amount: "1", version: 2 });
      await rig.settle(first);
      await rig.settle({ ...first, version: 1, status });
      await rig.settle({ ...first, version: 1, status });
      expect(await paymentsOf(id)).toMatchObject([{ status, applied: status === "settled" }]);
      const receivedAmount = status === "settled" ? "1" : "0";
      expect(await rig.retrieve(id)).toMatchObject({ receivedAmount });
    },
  );

  test("given one that had failed before, counts once, with the events of any settlement (rule STATE-6)", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { status: "failed", amount: "5" });
    await rig.settle(first);
    expect(await paymentsOf(id)).toMatchObject([{ status: "failed", applied: false }]);
    const corrected = { ...first, version: 2, status: "settled" as const };
    await rig.settle(corrected, corrected);
    await rig.settle(corrected);
    expect(await paymentsOf(id)).toMatchObject([{ status: "settled", applied: true }]);
    expect(await typesOf(id)).toEqual(["payment_link.created", succeeded, completed]);
    const logged = rig.logLines.filter((line) => line.includes("has settled after all"));
    expect(logged).toEqual([expect.stringContaining(first.id)]);
  });

  test("given a link that nobody has heard of, or another payment of the same source id, throws", async () => {
    const unknown = sampleSettlement("plink_01m7y4kb9sfvktcnzb0r3g9a0s");
    await expect(rig.settle(unknown)).rejects.toThrow("there is no payment link");
    const id = await rig.createLink(key, { toAmount: "5" });
    const first = sampleSettlement(id, { amount: "1" });
    await rig.settle(first);
    const twin = sampleSettlement(id, { amount: "1", sourceId: first.sourceId });
    await expect(rig.settle(twin)).rejects.toThrow();
    expect((await rig.retrieve(id)).receivedAmount).toBe("1");
  });
});

describe("a payment around the expiry", () => {
  const expirationDate = later(60_000).toISOString();

  test("given a start before it, counts after it, whether or not the expiry job has run (rule STATE-8)", async () => {
    const ids = [
      await rig.createLink(key, { toAmount: "5", expirationDate }),
      await rig.createLink(key, { toAmount: "5", expirationDate }),
    ];
    const [early = "", swept = ""] = ids;
    rig.clock.advance(60_000);
    await rig.settle(sampleSettlement(early, { amount: "1", occurredAt: later(59_999) }));
    expect(await rig.retrieve(early)).toMatchObject({ status: "inactive", receivedAmount: "1" });
    const [, event] = await rig.eventsOf(early);
    expect(event?.data.link).toMatchObject({ status: "inactive", version: 2 });

    await expireLinks(rig.deps).run();
    await rig.settle(sampleSettlement(swept, { amount: "1", occurredAt: later(59_999) }));
    expect(await rig.retrieve(swept)).toMatchObject({ status: "inactive", receivedAmount: "1" });
    for (const id of ids) {
      await rig.settle(sampleSettlement(id, { amount: "4", occurredAt: later(59_999) }));
      expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    }
    expect(await typesOf(swept)).toEqual(["payment_link.created", succeeded, succeeded, completed]);
  });

  test("given a start at it, is unapplied: expired (rule STATE-8)", async () => {
    const later = new Date(rig.clock.now().getTime() + 1000);
    const id = await rig.createLink(key, { toAmount: "5", expirationDate: later.toISOString() });
    rig.clock.advance(1000);
    await rig.settle(sampleSettlement(id, { amount: "5", occurredAt: later }));
    expect(await rig.retrieve(id)).toMatchObject({ status: "inactive", receivedAmount: "0" });
    expect((await paymentsOf(id))[0]).toMatchObject({ applied: false, reason: "expired" });
  });
});

const countOrphaned = async (): Promise<number> => {
  const name = "payment_links_payments_orphaned_total";
  const found = await rig.directMetrics.getSingleMetric(name)?.get();
  return found?.values[0]?.value ?? 0;
};

describe("a payment that its chain takes away after it has settled", () => {
  const flagOf = async (id: string) => (await paymentsOf(id))[0]?.orphaned;

  test("keeps its credit, sends no event, and is flagged to its owner once (rule STATE-10)", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5" });
    await rig.settle(settlement);
    const before = await rig.eventsOf(id);
    expect((await paymentsOf(id))[0]).not.toHaveProperty("orphaned");
    const countBefore = await countOrphaned();

    await rig.settle({ ...settlement, version: 2, isOrphaned: true, amount: new Decimal(1) });
    await rig.settle({ ...settlement, version: 2, isOrphaned: true });
    // Who says nothing of the flag leaves it.
    await rig.settle({ ...settlement, version: 3 });
    expect((await paymentsOf(id))[0]).toMatchObject({ applied: true, amount: "5", orphaned: true });
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    expect(await rig.eventsOf(id)).toEqual(before);
    expect((await countOrphaned()) - countBefore).toBe(1);
  });

  test("is flagged no more once its chain has it again, and anew if that takes it away once more (rule STATE-10)", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5", isOrphaned: false });
    await rig.settle({ ...settlement, status: "processing" });
    await rig.settle({ ...settlement, version: 2 });
    const before = [await rig.retrieve(id), await paymentsOf(id), await rig.eventsOf(id)];
    const countBefore = await countOrphaned();
    const gone = { ...settlement, version: 3, isOrphaned: true };
    const back = { ...settlement, version: 4, amount: new Decimal(1) };
    await rig.settle(gone);
    expect(await flagOf(id)).toBe(true);
    await rig.settle(back);
    expect([await rig.retrieve(id), await paymentsOf(id), await rig.eventsOf(id)]).toEqual(before);
    await rig.settle({ ...settlement, version: 5, isOrphaned: true });
    expect(await flagOf(id)).toBe(true);
    await rig.settle({ ...settlement, version: 6, isOrphaned: true }, { ...back, version: 7 });
    expect([await rig.retrieve(id), await paymentsOf(id), await rig.eventsOf(id)]).toEqual(before);
    expect((await countOrphaned()) - countBefore).toBe(2);
  });

  // Guards against a log that is read from its beginning once more (rule KEEP-5).
  test("is not flagged again by what was told before it came back", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
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
    expect(await flagOf(id)).toBeUndefined();
    for (const record of records) await rig.settle(record);
    for (const record of records) await rig.settle(record);
    expect(await flagOf(id)).toBeUndefined();
    await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      await rig.settle(...records);
    });
    expect(await flagOf(id)).toBeUndefined();
    // So says a listener that was restored, and finds it again as it was before it settled.
    await rig.settle({ ...records[1], version: 6 });
    expect(await flagOf(id)).toBeUndefined();
  });

  test.each([
    ["was never away", []],
    ["was away before it settled", [{ version: 1, isOrphaned: true, status: "processing" }]],
  ] as const)(
    "is flagged also by a listener that was restored, and counts its versions anew: one that %s",
    async (_, before) => {
      const id = await rig.createLink(key, { toAmount: "5" });
      const settlement = sampleSettlement(id, { amount: "1", version: 3, isOrphaned: false });
      for (const record of before) await rig.settle({ ...settlement, ...record });
      await rig.settle(settlement);
      await rig.settle({ ...settlement, version: 2, isOrphaned: true });
      expect(await paymentsOf(id)).toMatchObject([{ applied: true, orphaned: true }]);
    },
  );
});

describe("settlements that are told again", () => {
  test("change nothing and wait for no lock; what is further or new among them counts (rule KEEP-5)", async () => {
    const id = await rig.createLink(key, { toAmount: "25" });
    const settled = sampleSettlement(id, { amount: "1" });
    const begun = sampleSettlement(id, { status: "processing", version: 2, amount: "2" });
    const orphaned = sampleSettlement(id, { amount: "4" });
    await rig.settle(settled, begun, orphaned);
    const before = [await paymentsOf(id), await rig.eventsOf(id)];
    await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [id]);
      await rig.settle(settled, { ...begun, version: 1 }, orphaned);
    });
    expect([await paymentsOf(id), await rig.eventsOf(id)]).toEqual(before);

    const fresh = sampleSettlement(id, { amount: "8" });
    await rig.settle(
      settled,
      { ...begun, version: 1, status: "settled" },
      { ...orphaned, isOrphaned: true },
      { ...begun, version: 1 },
      fresh,
    );
    const shown = new Map(
      (await paymentsOf(id)).map((payment: Shown) => [payment.id, payment] as const),
    );
    expect(shown.get(begun.id)).toMatchObject({ status: "settled", applied: true });
    expect(shown.get(orphaned.id)).toMatchObject({ applied: true, orphaned: true });
    expect(shown.get(fresh.id)).toMatchObject({ applied: true });
    expect(await rig.retrieve(id)).toMatchObject({ receivedAmount: "15" });
    expect((await rig.eventsOf(id)).map(({ data }) => data.link.version)).toEqual([1, 2, 3, 4, 5]);
  });

  test("of another link than before are refused, alone and among others", async () => {
    const [id, other] = [
      await rig.createLink(key, { toAmount: "25" }),
      await rig.createLink(key, { toAmount: "25" }),
    ];
    const settled = sampleSettlement(id);
    await rig.settle(settled);
    const moved = { ...settled, paymentLinkId: other };
    const refused = "moved to another link";
    await expect(rig.settle(moved)).rejects.toThrow(refused);
    await expect(rig.settle(settled, moved)).rejects.toThrow(refused);
    await expect(rig.settle(sampleSettlement(other), moved)).rejects.toThrow(refused);
  });
});

describe("payments at once on one link", () => {
  test("given fifty, sum, usage, events and versions come out exact (rules KEEP-1 and KEEP-2)", async () => {
    const id = await rig.createLink(key, { toAmount: "1000", maxUsage: 50 });
    const settlements = Array.from({ length: 50 }, () => sampleSettlement(id, { amount: "0.1" }));
    // Each event comes twice, as after a redelivery.
    await Promise.all([...settlements, ...settlements].map((settlement) => rig.settle(settlement)));
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "5" });
    const events = await rig.eventsOf(id);
    expect(events.map(({ data }) => data.link.version)).toEqual(
      Array.from({ length: 52 }, (_, index) => index + 1),
    );
    expect(events.filter(({ type }) => type === succeeded)).toHaveLength(50);
    expect(events.filter(({ type }) => type === completed)).toHaveLength(1);
    expect(new Set(events.map(({ data }) => data.transaction?.id)).size).toBe(51);
  });
});

describe("a payment that is applied again after a restore", () => {
  test("is told under the ids that it had, also in other versions (rule EVENT-7)", async () => {
    const id = await rig.createLink(key, { toAmount: "5" });
    const settlement = sampleSettlement(id, { amount: "5" });
    const told = async () => (await rig.eventsOf(id)).slice(1);
    await rig.settle(settlement);
    const before = await told();
    await rig.pool.query(
      nothing`DELETE FROM outbox WHERE key = ${id} AND type <> 'payment_link.created'`,
    );
    await rig.pool.query(nothing`DELETE FROM payments WHERE link_id = ${id}`);
    await rig.pool.query(nothing`
      UPDATE links SET received_amount = 0, current_usage = 0, version = 7, status = 'active',
        last_transaction_id = NULL
      WHERE id = ${id}
    `);
    rig.clock.advance(60_000);
    await rig.settle(settlement);
    const again = await told();
    expect(before.map(({ type }) => type)).toEqual([succeeded, completed]);
    expect(again.map((event) => event.id)).toEqual(before.map((event) => event.id));
    expect(again.map(({ data }) => data.link.version)).toEqual([8, 9]);
  });
});

type Payment = { applied: boolean; reason: string | null; status: string };
type Shown = Payment & { id: string };
