import { beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { sql } from "slonik";
import * as z from "zod";
import { createLocalBus, listDeadLetters, startConsumer } from "@payment-links/bus";
import {
  Decimal,
  SettlementState,
  newId,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";
import { type Pool, type Transaction, sqlVoid, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lockLinks } from "../store/links.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, testStartTime, usdcOnBase } from "../testing/samples.ts";
import { applySettlements } from "./apply-settlements.ts";
import { createEventHandlers } from "./event-handlers.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const rig = useRig(createRig);
let keyHeaders: Record<string, string>;
beforeAll(() => {
  keyHeaders = rig.createKeyHeaders(sampleAccount());
});

const createLinks = (count: number, body: object = { toAmount: "1000" }): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => rig.createLink(keyHeaders, body)));

const getReceivedAmount = async (id: string): Promise<string> =>
  (await rig.retrieve(id)).receivedAmount;

const linksMax = 3;
const paymentsMax = 6;
const expiryMs = 10_000;

/**
 * A record about one of several payments, with any status and version. Records can arrive in any
 * order.
 */
const arbitraryRecord = fc.record({
  payment: fc.integer({ min: 0, max: paymentsMax - 1 }),
  version: fc.integer({ min: 1, max: 4 }),
  status: fc.constantFrom("processing", "settled", "settled", "settled", "failed"),
  isOrphaned: fc.constantFrom(undefined, undefined, false, true),
  micros: fc.integer({ min: 1, max: 4_000_000 }),
  startedMs: fc.integer({ min: 0, max: 2 * expiryMs }),
  seenMs: fc.integer({ min: 0, max: 1_000 }),
  isWrongToken: fc.constantFrom(false, false, false, true),
  endsChunk: fc.boolean(),
});
const arbitraryLink = fc.record({
  toMicros: fc.integer({ min: 1, max: 10_000_000 }),
  maxUsage: fc.option(fc.integer({ min: 1, max: 4 })),
  hasExpiry: fc.boolean(),
  isDeactivated: fc.constantFrom(false, false, false, true),
});
const arbitraryScenario = fc.record({
  links: fc.array(arbitraryLink, { minLength: linksMax, maxLength: linksMax }),
  records: fc.array(arbitraryRecord, { minLength: 2, maxLength: 20 }),
});
type Scenario = typeof arbitraryScenario extends fc.Arbitrary<infer Value> ? Value : never;

const afterStart = (ms: number) => new Date(testStartTime.getTime() + ms);
const toAmount = (micros: number) => new Decimal(micros).div(1_000_000);

const updateLinks = async (tx: Transaction, linkIds: readonly string[], { links }: Scenario) => {
  for (const [index, link] of links.entries()) {
    await tx.query(sqlVoid`
      UPDATE links SET
        to_amount = ${toAmount(link.toMicros).toFixed()}, max_usage = ${link.maxUsage},
        expires_at = ${link.hasExpiry ? afterStart(expiryMs).toISOString() : null},
        deactivated_at = ${link.isDeactivated ? testStartTime.toISOString() : null},
        status = ${link.isDeactivated ? "inactive" : "active"}
      WHERE id = ${linkIds[index] ?? ""}
    `);
  }
};

const createSettlements = (
  { records }: Scenario,
  linkIds: readonly string[],
  paymentIds: string[],
) =>
  records.map((record): SettlementState => {
    const id = paymentIds[record.payment] ?? "";
    return {
      ...sampleSettlement(linkIds[record.payment % linksMax] ?? ""),
      id,
      sourceId: id,
      version: record.version,
      status: record.status,
      amount: toAmount(record.micros),
      tokenAddress: record.isWrongToken ? otherToken : usdcOnBase.tokenAddress,
      occurredAt: afterStart(record.startedMs),
      firstSeenAt: afterStart(-record.seenMs),
      ...(record.isOrphaned === undefined ? {} : { isOrphaned: record.isOrphaned }),
    };
  });

const otherToken = "0x0000000000000000000000000000000000000001";

const RowText = z.object({ row: z.string() });

/**
 * Reads the stored and published state of links as text: their rows, and their events in outbox
 * order.
 */
const readState = async (tx: Transaction, linkIds: readonly string[]) => {
  const ids = sql.array([...linkIds], "text");
  return {
    links: await tx.any(sql.type(RowText)`
      SELECT (to_jsonb(links) - 'updated_at')::text AS row FROM links WHERE id = ANY (${ids}) ORDER BY id
    `),
    payments: await tx.any(sql.type(RowText)`
      SELECT to_jsonb(payments)::text AS row FROM payments WHERE link_id = ANY (${ids}) ORDER BY id
    `),
    events: await tx.any(sql.type(RowText)`
      SELECT (to_jsonb(outbox) - 'seq')::text AS row FROM outbox
      WHERE key = ANY (${ids}) AND type <> 'payment_link.created' ORDER BY seq
    `),
  };
};

describe("settlements applied in a chunk", () => {
  test("leave the same rows and the same event order as one by one", async () => {
    const linkIds = await createLinks(linksMax);
    const paymentIds = Array.from({ length: paymentsMax }, () => newId("tx"));
    await fc.assert(
      fc.asyncProperty(arbitraryScenario, (scenario) =>
        transact(rig.pool, async (tx) => {
          await tx.query(sqlVoid`SAVEPOINT before_all`);
          await updateLinks(tx, linkIds, scenario);
          await tx.query(sqlVoid`SAVEPOINT before_each`);
          const settlements = createSettlements(scenario, linkIds, paymentIds);
          for (const settlement of settlements) await rig.settleInTransaction(tx, settlement);
          const stateOneByOne = await readState(tx, linkIds);
          await tx.query(sqlVoid`ROLLBACK TO SAVEPOINT before_each`);
          let chunk: SettlementState[] = [];
          for (const [index, settlement] of settlements.entries()) {
            chunk.push(settlement);
            const isLast = index === settlements.length - 1;
            if (!isLast && scenario.records[index]?.endsChunk !== true) continue;
            await rig.settleInTransaction(tx, ...chunk);
            chunk = [];
          }
          const stateInChunks = await readState(tx, linkIds);
          await tx.query(sqlVoid`ROLLBACK TO SAVEPOINT before_all`);
          expect(stateInChunks).toEqual(stateOneByOne);
        }),
      ),
      { ...getPropertyRunOptions({ commit: 15, soak: 60 }), endOnFailure: true },
    );
  });

  test("do not hold a link's lock while they wait for a link earlier in the lock order", async () => {
    const [firstLinkId = "", secondLinkId = ""] = (await createLinks(2)).toSorted();
    const { pendingWork } = await transact(rig.pool, async (tx) => {
      await lockLinks(tx, [firstLinkId]);
      const pendingWork = rig.settle(sampleSettlement(secondLinkId), sampleSettlement(firstLinkId));
      await rig.waitUntilBlocked(tx);
      const lockableRows = await tx.query(
        sqlVoid`SELECT FROM links WHERE id = ${secondLinkId} FOR UPDATE SKIP LOCKED`,
      );
      expect(lockableRows.rowCount).toBe(1);
      return { pendingWork };
    });
    await pendingWork;
    expect(await Promise.all([firstLinkId, secondLinkId].map(getReceivedAmount))).toEqual([
      "10",
      "10",
    ]);
  });

  test("publish each event with the trace of its own settlement", async () => {
    const [id = ""] = await createLinks(1);
    const traceparents = ["1", "2"].map((digit) => `00-${digit.repeat(32)}-${"3".repeat(16)}-01`);
    const events = traceparents.map((traceparent) => {
      const data = sampleSettlement(id);
      const type = settlementSettled.type;
      const envelope = { id: newId("evt"), type, key: id, occurredAt: testStartTime };
      return { data, envelope, traceparent };
    });
    await transact(rig.pool, (tx) => applySettlements(rig.dependencies)(tx, events));
    const outboxRows = await rig.pool.any(sql.type(
      z.object({ traceparent: z.string().nullable() }),
    )`
      SELECT traceparent FROM outbox
      WHERE key = ${id} AND type <> 'payment_link.created' ORDER BY seq
    `);
    expect(outboxRows.map(({ traceparent }) => traceparent)).toEqual(traceparents);
  });
});

const Plans = z.object({ name: z.string(), custom: z.coerce.number(), kept: z.coerce.number() });

// Guards against statements that Postgres plans again for every payment, which would double their
// duration.
test("settlements use cached generic plans for any chunk size", async () => {
  const linkIds = await createLinks(12);
  const plans = await transact(rig.pool, async (tx) => {
    const readPlans = () =>
      tx.any(sql.type(Plans)`
        SELECT name, custom_plans AS custom, generic_plans AS kept FROM pg_prepared_statements
        WHERE name IN ('find_payments', 'lock_links', 'keep_credits') ORDER BY name
      `);
    // With only a few links, every plan would be cheap.
    await tx.query(sqlVoid`SAVEPOINT before_all`);
    await tx.query(sqlVoid`
      INSERT INTO links OVERRIDING SYSTEM VALUE
      SELECT other.* FROM links, generate_series(1, 5000) AS n, jsonb_populate_record(links, jsonb_build_object(
        'id', links.id || n, 'seq', 1000000 + n, 'payment_reference', links.payment_reference || n
      )) AS other
      WHERE links.id = ${linkIds[0] ?? ""}
    `);
    await tx.query(sqlVoid`ANALYZE links`);
    // Postgres tries five custom plans before it caches a generic one.
    for (const id of linkIds.slice(0, 6)) await rig.settleInTransaction(tx, sampleSettlement(id));
    const plansBefore = await readPlans();
    for (const id of linkIds) await rig.settleInTransaction(tx, sampleSettlement(id));
    await rig.settleInTransaction(tx, ...linkIds.map((id) => sampleSettlement(id)));
    const plansAfter = await readPlans();
    await tx.query(sqlVoid`ROLLBACK TO SAVEPOINT before_all`);
    return plansAfter.map(({ name, custom, kept: generic }, index) => ({
      name,
      custom: custom - (plansBefore[index]?.custom ?? 0),
      generic: generic - (plansBefore[index]?.kept ?? 0),
    }));
  });
  // For a chunk, an additional `find_payments` first checks whether the chunk contains anything
  // new.
  expect(plans).toEqual([
    { name: "find_payments", custom: 0, generic: 14 },
    { name: "keep_credits", custom: 0, generic: 13 },
    { name: "lock_links", custom: 0, generic: 13 },
  ]);
});

const eventTypesByStatus = {
  processing: settlementProcessing,
  settled: settlementSettled,
  failed: settlementFailed,
};

/** Starts a consumer of this service on its own bus and counts its statements. */
const startTestConsumer = async () => {
  const bus = createLocalBus();
  const { clock, log, metrics } = rig.context;
  let statementCount = 0;
  const countStatements = <Session extends object>(sessionHeaders: Session): Session =>
    new Proxy(sessionHeaders, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        if (name !== "connect" && name !== "transaction") {
          return (...args: unknown[]) => {
            statementCount += 1;
            return method.apply(target, args);
          };
        }
        return (run: (innerSession: object) => unknown) =>
          method.call(target, (innerSession: object) => run(countStatements(innerSession)));
      },
    });
  const pool: Pool = countStatements(rig.pool);
  const group = "at-once";
  const consumer = await startConsumer({
    bus,
    clock,
    group,
    log,
    metrics,
    pool,
    handlers: createEventHandlers(rig.dependencies),
  });
  return {
    group,
    /**
     * Publishes settlements as one chunk and returns the number of statements that the consumer
     * executed.
     */
    publishSettlements: async (settlements: readonly SettlementState[]): Promise<number> => {
      const countBefore = statementCount;
      await bus.publish(
        settlements.map((settlement) => ({
          topic: settlementSettled.topic,
          key: settlement.paymentLinkId,
          headers: {
            ce_id: newId("evt"),
            ce_type: eventTypesByStatus[settlement.status].type,
            ce_source: "test",
            ce_time: testStartTime.toISOString(),
            ce_specversion: "1.0",
          },
          value: JSON.stringify(z.encode(SettlementState, settlement)),
        })),
      );
      return statementCount - countBefore;
    },
    close: () => consumer.stop(),
  };
};

describe("settlements that arrive together", () => {
  const consumer = useRig(startTestConsumer);

  // Guards against one account's backlog delaying another account's payment by a minute.
  test("need as many statements as two of them, and fewer when replayed", async () => {
    const linkIds = await createLinks(20);
    const settlements = Array.from({ length: 250 }, (_, index) =>
      sampleSettlement(linkIds[index % linkIds.length] ?? "", { amount: "1" }),
    );
    const twoSettlementsCost = await consumer.publishSettlements(
      linkIds.slice(0, 2).map((id) => sampleSettlement(id, { amount: "1" })),
    );
    expect(await consumer.publishSettlements(settlements)).toBe(twoSettlementsCost);
    expect(await consumer.publishSettlements(settlements)).toBeLessThan(twoSettlementsCost);
    for (const [index, id] of linkIds.entries()) {
      const received = settlements.filter(({ paymentLinkId }) => paymentLinkId === id).length;
      expect(await getReceivedAmount(id)).toBe(String(received + (index < 2 ? 1 : 0)));
    }
  });

  test("are applied except for a failing one, which is dead-lettered with later records of its key", async () => {
    const linkIds = await createLinks(3);
    const [failingLinkId = "", otherLinkId = "", lastLinkId = ""] = linkIds;
    const otherLinkSettlement = sampleSettlement(otherLinkId, { amount: "1" });
    const validSettlement = sampleSettlement(failingLinkId, { amount: "1" });
    const followingSettlement = sampleSettlement(failingLinkId, { amount: "4" });
    const countBefore = await countAppliedPayments();
    await consumer.publishSettlements([
      otherLinkSettlement,
      validSettlement,
      { ...otherLinkSettlement, paymentLinkId: failingLinkId, version: 2 },
      sampleSettlement(lastLinkId, { amount: "1" }),
      followingSettlement,
      sampleSettlement(otherLinkId, { amount: "2" }),
    ]);
    expect(await Promise.all(linkIds.map(getReceivedAmount))).toEqual(["1", "3", "1"]);
    const deadLetters = await listDeadLetters({ pool: rig.pool, group: consumer.group });
    expect(deadLetters.map((deadLetter) => deadLetter.key)).toEqual([failingLinkId, failingLinkId]);
    // The metric does not include payments that were rolled back.
    expect((await countAppliedPayments()) - countBefore).toBe(4);
  });
});

const countAppliedPayments = async (): Promise<number> => {
  const text = await rig.directMetrics.getSingleMetricAsString("payment_links_payments_total");
  return [...text.matchAll(/outcome="applied".*\} (\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
};
