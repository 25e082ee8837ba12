import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { paidLinksMax } from "@payment-links/contracts";
import { type Db, VoidRow } from "@payment-links/postgres";
import { queryAfterUpgrade } from "@payment-links/postgres/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { linksApiMigration } from "../service.ts";
import { explainQueries, countTouchedPages } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import {
  insertLinkCopies,
  insertUnappliedPayments,
  sampleAccount,
  sampleSettlement,
} from "../testing/samples.ts";
import {
  countLinks,
  countUnappliedPayments,
  listDailyReceived,
  listRecentPayments,
  listUnappliedPayments,
} from "./overview.ts";

const rig = useRig(createRig);

const ReadCountRow = z.object({ count: z.coerce.number() });
const SumRow = z.object({ sum: z.string(), count: z.int() });

test("the upgrade adds up existing payments by their UTC day", async () => {
  const rows = await queryAfterUpgrade(linksApiMigration, {
    firstNewFile: "0007-overview.sql",
    insertSql: `
      INSERT INTO links (id, user_id, version, status, to_amount, created_at, wallet_id,
        destination_address, token_id, chain_id, token_address, payment_reference)
      SELECT id, user_id, 1, 'active', 9, now(), 'w', 'd', token_id, '1', '0x', id
      FROM (VALUES ('one', 'user_1', 'a'), ('two', 'user_1', 'a'), ('three', 'user_2', 'b'))
        AS made (id, user_id, token_id);
      INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, reason,
        amount, token_address, chain_id, destination_address, occurred_at, first_seen_at, applied_at)
      SELECT id, link_id, 1, 's', id, status, applied_at IS NOT NULL, reason, amount, '0x', '1', '0x',
        now(), '2026-01-01', applied_at
      FROM (VALUES
        ('tx_1', 'one', 'settled', NULL, 0.1, '2026-01-01T23:59:59.999Z'::timestamptz),
        ('tx_2', 'two', 'settled', NULL, 0.2, '2026-01-01T00:00:00Z'),
        ('tx_3', 'two', 'settled', NULL, 5, '2026-01-02T00:00:00Z'),
        ('tx_4', 'three', 'settled', NULL, 7, '2026-01-02T00:00:00Z'),
        ('tx_5', 'three', 'settled', 'expired', 8, NULL),
        ('tx_6', 'one', 'failed', NULL, 9, NULL),
        ('tx_7', 'one', 'processing', NULL, 9, NULL)
      ) AS incoming (id, link_id, status, reason, amount, applied_at)
    `,
    querySql: `
      SELECT user_id, day::text, token_id, sum(amount)::text AS what, sum(payment_count)::text AS count
      FROM received_by_day GROUP BY user_id, day, token_id
      UNION ALL SELECT user_id, NULL, NULL, payment_id, NULL FROM unapplied_payments ORDER BY 1, 2
    `,
  });
  expect(rows).toEqual([
    { user_id: "user_1", day: "2026-01-01", token_id: "a", what: "0.3", count: "2" },
    { user_id: "user_1", day: "2026-01-02", token_id: "a", what: "5", count: "1" },
    { user_id: "user_2", day: "2026-01-02", token_id: "b", what: "7", count: "1" },
    { user_id: "user_2", day: null, token_id: null, what: "tx_5", count: null },
  ]);
});

// After every commit, the total of the chart equals the sum of the applied payments (rule KEEP-1).
test("payments applied in concurrent transactions are all added up (rule CALLER-25)", async () => {
  const account = sampleAccount();
  const headers = rig.createKeyHeaders(account);
  const links = await Promise.all(
    Array.from({ length: 40 }, () => rig.createLink(headers, { toAmount: "1000" })),
  );
  const payAllLinks = (amount: string) =>
    Promise.all(
      Array.from({ length: 8 }, (_, chunkIndex) =>
        rig.settle(
          ...links
            .slice(5 * chunkIndex, 5 * chunkIndex + 5)
            .map((linkId, index) => sampleSettlement(linkId, { amount, version: index + 1 })),
        ),
      ),
    );
  await payAllLinks("0.1");
  await payAllLinks("0.000002");
  const fromDay = "2000-01-01";
  const dailyReceived = await listDailyReceived(rig.pool, {
    fromDay,
    userId: account.id,
    mode: "live",
  });
  const appliedTotals = await rig.pool.one(sql.type(SumRow)`
    SELECT sum(payments.amount) AS sum, count(*)::int AS count
    FROM payments JOIN links ON links.id = payments.link_id
    WHERE links.user_id = ${account.id} AND is_applied
  `);
  const totals = dailyReceived.map(({ amount, paymentCount }) => [amount.toFixed(), paymentCount]);
  expect(totals).toEqual([["4.00008", 80]]);
  expect(appliedTotals).toEqual({ sum: "4.000080", count: 80 });
});

// Guards the speed of every payment, because a trigger caches its plans for the lifetime of a
// connection.
test("the trigger's cached plan reads no more payments after the table has grown", async () => {
  const linkId = await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "1000" });
  await rig.settle(sampleSettlement(linkId));
  const insertPayments = (db: Db, from: number, to: number) =>
    db.query(sql.type(VoidRow)`
      INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, amount,
        token_address, chain_id, destination_address, occurred_at, first_seen_at, applied_at)
      SELECT 'tx_' || ${linkId} || number, link_id, 1, 'grown', ${linkId} || number, status, true, amount,
        token_address, chain_id, destination_address, occurred_at, first_seen_at, applied_at
      FROM generate_series(${from}::int, ${to}::int) AS number,
        (SELECT * FROM payments WHERE link_id = ${linkId} LIMIT 1) AS payment
    `);
  const readRowCount = await rig.pool.connect(async (connection) => {
    await connection.query(sql.type(VoidRow)`ANALYZE payments`);
    for (let number = 1; number <= 8; number += 1) await insertPayments(connection, number, number);
    await insertPayments(rig.pool, 9, 5_000);
    return connection.transaction(async (tx) => {
      await insertPayments(tx, 5_001, 5_001);
      return tx.oneFirst(sql.type(ReadCountRow)`
        SELECT pg_stat_get_xact_tuples_returned('payments'::regclass) +
          pg_stat_get_xact_tuples_fetched('payments'::regclass) AS count
      `);
    });
  });
  expect(readRowCount).toBeLessThanOrEqual(10);
});

// Guards other accounts, because owners open the overview often.
describe("the overview of an account with 60,000 links and 30,000 unapplied payments", () => {
  let userId: string;
  beforeAll(async () => {
    const account = sampleAccount();
    userId = account.id;
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    await insertLinkCopies(rig.pool, id, { count: 60_000 });
    await insertUnappliedPayments(rig.pool, id, 30_000);
    await rig.vacuumLinks();
  });

  test("reads few database pages", async () => {
    const now = rig.clock.now();
    const plans = await explainQueries(rig.pool, async (db) => {
      await listDailyReceived(db, { fromDay: "2000-01-01", userId, mode: "live" });
      await countLinks(db, { now, userId, mode: "live" });
      const { count, hasMore } = await countUnappliedPayments(db, { userId, mode: "live" });
      expect([count, hasMore]).toEqual([10_000, true]);
      expect(await listUnappliedPayments(db, { userId, mode: "live", limit: 20 })).toHaveLength(20);
    });
    expect(plans).toHaveLength(4);
    expect(countTouchedPages(plans)).toBeLessThan(1_000);
  });

  test("looks for the newest payments only on the 1,000 newest links", async () => {
    const plans = await explainQueries(rig.pool, (db) =>
      listRecentPayments(db, { userId, mode: "live", limit: 5 }),
    );
    expect(plans).toHaveLength(1);
    // At most four pages of the index for each link.
    expect(countTouchedPages(plans)).toBeLessThan(4 * paidLinksMax);
  });
});
