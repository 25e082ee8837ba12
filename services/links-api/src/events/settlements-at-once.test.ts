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
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { lockLinks } from "../store/links.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement, start, usdcOnBase } from "../testing/samples.ts";
import { applySettlements } from "./apply-settlements.ts";
import { reactions } from "./reactions.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const rig = useRig(openRig);
let key: Record<string, string>;
beforeAll(() => {
  key = rig.giveKey(sampleAccount());
});

const createLinks = (count: number, order: object = { toAmount: "1000" }): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => rig.createLink(key, order)));

const receivedOf = async (id: string): Promise<string> => (await rig.retrieve(id)).receivedAmount;

const linksMax = 3;
const paymentsMax = 6;
const expiryMs = 10_000;

/** A record of one of a few payments: any step, under any version, in any order. */
const record = fc.record({
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
const shape = fc.record({
  toMicros: fc.integer({ min: 1, max: 10_000_000 }),
  maxUsage: fc.option(fc.integer({ min: 1, max: 4 })),
  expires: fc.boolean(),
  isDeactivated: fc.constantFrom(false, false, false, true),
});
const story = fc.record({
  links: fc.array(shape, { minLength: linksMax, maxLength: linksMax }),
  records: fc.array(record, { minLength: 2, maxLength: 20 }),
});
type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

const later = (ms: number) => new Date(start.getTime() + ms);
const amountOf = (micros: number) => new Decimal(micros).div(1_000_000);

const reshape = async (tx: Transaction, linkIds: readonly string[], { links }: Story) => {
  for (const [index, link] of links.entries()) {
    await tx.query(nothing`
      UPDATE links SET
        to_amount = ${amountOf(link.toMicros).toFixed()}, max_usage = ${link.maxUsage},
        expires_at = ${link.expires ? later(expiryMs).toISOString() : null},
        deactivated_at = ${link.isDeactivated ? start.toISOString() : null},
        status = ${link.isDeactivated ? "inactive" : "active"}
      WHERE id = ${linkIds[index] ?? ""}
    `);
  }
};

const settlementsOf = ({ records }: Story, linkIds: readonly string[], paymentIds: string[]) =>
  records.map((one): SettlementState => {
    const id = paymentIds[one.payment] ?? "";
    return {
      ...sampleSettlement(linkIds[one.payment % linksMax] ?? ""),
      id,
      sourceId: id,
      version: one.version,
      status: one.status,
      amount: amountOf(one.micros),
      tokenAddress: one.isWrongToken ? shopToken : usdcOnBase.tokenAddress,
      occurredAt: later(one.startedMs),
      firstSeenAt: later(-one.seenMs),
      ...(one.isOrphaned === undefined ? {} : { isOrphaned: one.isOrphaned }),
    };
  });

const shopToken = "0x0000000000000000000000000000000000000001";

const RowText = z.object({ row: z.string() });

/** All that is kept and told of links, as text: the rows, and the events in the order of their sending. */
const readAll = async (tx: Transaction, linkIds: readonly string[]) => {
  const ids = sql.array([...linkIds], "text");
  return {
    links: await tx.any(sql.type(RowText)`
      SELECT to_jsonb(links)::text AS row FROM links WHERE id = ANY (${ids}) ORDER BY id
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

describe("settlements that are applied together", () => {
  test("leave the rows, and the events in the order, that they leave one by one", async () => {
    const linkIds = await createLinks(linksMax);
    const paymentIds = Array.from({ length: paymentsMax }, () => newId("tx"));
    await fc.assert(
      fc.asyncProperty(story, (told) =>
        rig.pool.transaction(async (tx) => {
          await tx.query(nothing`SAVEPOINT before_all`);
          await reshape(tx, linkIds, told);
          await tx.query(nothing`SAVEPOINT before_each`);
          const settlements = settlementsOf(told, linkIds, paymentIds);
          for (const one of settlements) await rig.settleWithin(tx, one);
          const singly = await readAll(tx, linkIds);
          await tx.query(nothing`ROLLBACK TO SAVEPOINT before_each`);
          let chunk: SettlementState[] = [];
          for (const [index, one] of settlements.entries()) {
            chunk.push(one);
            const isLast = index === settlements.length - 1;
            if (!isLast && told.records[index]?.endsChunk !== true) continue;
            await rig.settleWithin(tx, ...chunk);
            chunk = [];
          }
          const together = await readAll(tx, linkIds);
          await tx.query(nothing`ROLLBACK TO SAVEPOINT before_all`);
          expect(together).toEqual(singly);
        }),
      ),
      { ...propertyRuns({ commit: 15, soak: 60 }), endOnFailure: true },
    );
  });

  test("hold no link while they wait for another one that comes before it", async () => {
    const [low = "", high = ""] = (await createLinks(2)).toSorted();
    const { pending } = await rig.pool.transaction(async (tx) => {
      await lockLinks(tx, [low]);
      const pending = rig.settle(sampleSettlement(high), sampleSettlement(low));
      await rig.untilBlocked(tx);
      const free = await tx.query(
        nothing`SELECT FROM links WHERE id = ${high} FOR UPDATE SKIP LOCKED`,
      );
      expect(free.rowCount).toBe(1);
      return { pending };
    });
    await pending;
    expect(await Promise.all([low, high].map(receivedOf))).toEqual(["10", "10"]);
  });

  test("are told each in its own trace", async () => {
    const [id = ""] = await createLinks(1);
    const traces = ["1", "2"].map((digit) => `00-${digit.repeat(32)}-${"3".repeat(16)}-01`);
    const events = traces.map((traceparent) => {
      const data = sampleSettlement(id);
      const type = settlementSettled.type;
      const envelope = { id: newId("evt"), type, key: id, occurredAt: start };
      return { data, envelope, traceparent };
    });
    await rig.pool.transaction((tx) => applySettlements(rig.deps)(tx, events));
    const told = await rig.pool.any(sql.type(z.object({ traceparent: z.string().nullable() }))`
      SELECT traceparent FROM outbox
      WHERE key = ${id} AND type <> 'payment_link.created' ORDER BY seq
    `);
    expect(told.map(({ traceparent }) => traceparent)).toEqual(traces);
  });
});

const Plans = z.object({ name: z.string(), custom: z.coerce.number(), kept: z.coerce.number() });

// Guards against statements that Postgres plans anew for every payment, which is half their time.
test("settlements, however many come at once, are applied by plans that are kept", async () => {
  const linkIds = await createLinks(12);
  const plans = await rig.pool.transaction(async (tx) => {
    const read = () =>
      tx.any(sql.type(Plans)`
        SELECT name, custom_plans AS custom, generic_plans AS kept FROM pg_prepared_statements
        WHERE name IN ('find_payments', 'lock_links', 'keep_credits') ORDER BY name
      `);
    // Among few links any plan is cheap.
    await tx.query(nothing`SAVEPOINT before_all`);
    await tx.query(nothing`
      INSERT INTO links OVERRIDING SYSTEM VALUE
      SELECT other.* FROM links, generate_series(1, 5000) AS n, jsonb_populate_record(links, jsonb_build_object(
        'id', links.id || n, 'seq', 1000000 + n, 'payment_reference', links.payment_reference || n
      )) AS other
      WHERE links.id = ${linkIds[0] ?? ""}
    `);
    await tx.query(nothing`ANALYZE links`);
    // Five plans are tried before one is kept.
    for (const id of linkIds.slice(0, 6)) await rig.settleWithin(tx, sampleSettlement(id));
    const before = await read();
    for (const id of linkIds) await rig.settleWithin(tx, sampleSettlement(id));
    await rig.settleWithin(tx, ...linkIds.map((id) => sampleSettlement(id)));
    const after = await read();
    await tx.query(nothing`ROLLBACK TO SAVEPOINT before_all`);
    return after.map(({ name, custom, kept }, at) => ({
      name,
      custom: custom - (before[at]?.custom ?? 0),
      kept: kept - (before[at]?.kept ?? 0),
    }));
  });
  // Of many it looks first whether they tell anything new.
  expect(plans).toEqual([
    { name: "find_payments", custom: 0, kept: 14 },
    { name: "keep_credits", custom: 0, kept: 13 },
    { name: "lock_links", custom: 0, kept: 13 },
  ]);
});

const types = {
  processing: settlementProcessing,
  settled: settlementSettled,
  failed: settlementFailed,
};

/** A consumer of this service on a bus of its own, its statements counted. */
const openConsumer = async () => {
  const bus = createLocalBus();
  const { clock, log, metrics } = rig.ground;
  let statementCount = 0;
  const counted = <Session extends object>(session: Session): Session =>
    new Proxy(session, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name !== "connect" && name !== "transaction") {
          return (...args: unknown[]) => {
            statementCount += 1;
            return member.apply(target, args);
          };
        }
        return (work: (inner: object) => unknown) =>
          member.call(target, (inner: object) => work(counted(inner)));
      },
    });
  const pool: Pool = counted(rig.pool);
  const group = "at-once";
  const consumer = await startConsumer({
    bus,
    clock,
    group,
    log,
    metrics,
    pool,
    reactions: reactions(rig.deps),
  });
  return {
    group,
    /** Hands settlements over at once, as one claim of a relay; answers what that cost. */
    hear: async (settlements: readonly SettlementState[]): Promise<number> => {
      const before = statementCount;
      await bus.publish(
        settlements.map((settlement) => ({
          topic: settlementSettled.topic,
          key: settlement.paymentLinkId,
          headers: {
            ce_id: newId("evt"),
            ce_type: types[settlement.status].type,
            ce_source: "test",
            ce_time: start.toISOString(),
            ce_specversion: "1.0",
          },
          value: JSON.stringify(z.encode(SettlementState, settlement)),
        })),
      );
      return statementCount - before;
    },
    close: () => consumer.stop(),
  };
};

describe("settlements that come at once", () => {
  const consumer = useRig(openConsumer);

  // Guards against a backlog of one account that holds up another account's payment for a minute.
  test("cost as many statements as two of them, also when they are told again", async () => {
    const linkIds = await createLinks(20);
    const settlements = Array.from({ length: 250 }, (_, index) =>
      sampleSettlement(linkIds[index % linkIds.length] ?? "", { amount: "1" }),
    );
    const ofTwo = await consumer.hear(
      linkIds.slice(0, 2).map((id) => sampleSettlement(id, { amount: "1" })),
    );
    expect(await consumer.hear(settlements)).toBe(ofTwo);
    expect(await consumer.hear(settlements)).toBeLessThan(ofTwo);
    for (const [index, id] of linkIds.entries()) {
      const received = settlements.filter(({ paymentLinkId }) => paymentLinkId === id).length;
      expect(await receivedOf(id)).toBe(String(received + (index < 2 ? 1 : 0)));
    }
  });

  test("of which one cannot be applied: it alone is set aside, with what follows of its key", async () => {
    const linkIds = await createLinks(3);
    const [bad = "", other = "", last = ""] = linkIds;
    const elsewhere = sampleSettlement(other, { amount: "1" });
    const good = sampleSettlement(bad, { amount: "1" });
    const behind = sampleSettlement(bad, { amount: "4" });
    const countBefore = await countJudged();
    await consumer.hear([
      elsewhere,
      good,
      { ...elsewhere, paymentLinkId: bad, version: 2 },
      sampleSettlement(last, { amount: "1" }),
      behind,
      sampleSettlement(other, { amount: "2" }),
    ]);
    expect(await Promise.all(linkIds.map(receivedOf))).toEqual(["1", "3", "1"]);
    const parked = await listDeadLetters({ pool: rig.pool, group: consumer.group });
    expect(parked.map((letter) => letter.key)).toEqual([bad, bad]);
    // What was rolled back is not counted.
    expect((await countJudged()) - countBefore).toBe(4);
  });
});

const countJudged = async (): Promise<number> => {
  const text = await rig.directMetrics.getSingleMetricAsString("payment_links_payments_total");
  return [...text.matchAll(/outcome="applied".*\} (\d+)/g)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
};
