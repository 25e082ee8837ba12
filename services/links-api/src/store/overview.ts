import { sql } from "slonik";
import * as z from "zod";
import { Amount, type Mode, overviewCountMax, paidLinksMax } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import type { Payment } from "../domain/payment.ts";
import { PaymentRow, paymentColumns } from "./payments.ts";

const DailyReceivedRow = z.object({
  day: z.string(),
  tokenId: z.string(),
  amount: Amount,
  paymentCount: z.int(),
});

/** An owner's links of one mode. */
type OwnMode = { userId: string; mode: Mode };

/** The amount of a token that an owner received on one day. */
export type DailyReceived = z.output<typeof DailyReceivedRow>;

/**
 * Lists the amounts that an owner has received since a day (UTC), by day and token. Days without
 * payments are omitted.
 */
export const listDailyReceived = (
  db: Db,
  { fromDay, mode, userId }: OwnMode & { fromDay: string },
): Promise<readonly DailyReceived[]> =>
  db.any(sql.type(DailyReceivedRow)`
    SELECT day::text, token_id AS "tokenId", trim_scale(sum(amount)) AS amount,
      sum(payment_count)::int AS "paymentCount"
    FROM received_by_day
    WHERE user_id = ${userId} AND mode = ${mode} AND day >= ${fromDay}::date
    GROUP BY day, token_id ORDER BY day, token_id
  `);

const CountsRow = z.object({
  lasting: z.int(),
  expiring: z.int(),
  expired: z.int(),
  completed: z.int(),
  inactive: z.int(),
});

/** A count with an upper limit. `hasMore` is true if the limit is exceeded. */
export type BoundedCount = { count: number; hasMore: boolean };

const toBoundedCount = (count: number): BoundedCount => ({
  count: Math.min(count, overviewCountMax),
  hasMore: count > overviewCountMax,
});

const limitClause = sql.fragment`LIMIT ${overviewCountMax + 1}`;

/** Counts an owner's links by their status at a given time. Each count reads ranges of indexes. */
export const countLinks = async (
  db: Db,
  { mode, now, userId }: OwnMode & { now: Date },
): Promise<Record<"active" | "completed" | "inactive", BoundedCount>> => {
  const ownLinks = sql.fragment`SELECT FROM links WHERE user_id = ${userId} AND mode = ${mode}`;
  const timestamp = sql.timestamp(now);
  const counts = await db.one(sql.type(CountsRow)`
    SELECT
      (SELECT count(*)::int FROM (
        ${ownLinks} AND status = 'active' AND expires_at IS NULL ${limitClause}
      ) AS counted) AS lasting,
      (SELECT count(*)::int FROM (
        ${ownLinks} AND status = 'active' AND expires_at > ${timestamp} ${limitClause}
      ) AS counted) AS expiring,
      (SELECT count(*)::int FROM (
        ${ownLinks} AND status = 'active' AND expires_at <= ${timestamp} ${limitClause}
      ) AS counted) AS expired,
      (SELECT count(*)::int FROM (${ownLinks} AND status = 'completed' ${limitClause}) AS counted) AS completed,
      (SELECT count(*)::int FROM (${ownLinks} AND status = 'inactive' ${limitClause}) AS counted) AS inactive
  `);
  return {
    active: toBoundedCount(counts.lasting + counts.expiring),
    completed: toBoundedCount(counts.completed),
    inactive: toBoundedCount(counts.inactive + counts.expired),
  };
};

/** Lists the newest payments on an owner's links that have settled but were not applied. */
export const listUnappliedPayments = (
  db: Db,
  { limit, mode, userId }: OwnMode & { limit: number },
): Promise<readonly Payment[]> =>
  db.any(sql.type(PaymentRow)`
    SELECT ${paymentColumns}
    FROM unapplied_payments AS unapplied JOIN payments ON payments.id = unapplied.payment_id
    WHERE unapplied.user_id = ${userId} AND unapplied.mode = ${mode}
    ORDER BY unapplied.first_seen_at DESC, unapplied.payment_id DESC LIMIT ${limit}
  `);

const RecentPaymentRow = PaymentRow.extend({ description: z.string().nullable() });

/**
 * Lists the newest payments on an owner's newest links, with the descriptions of their links.
 * Payments are indexed by link, so the number of links bounds the cost.
 */
export const listRecentPayments = (
  db: Db,
  { limit, mode, userId }: OwnMode & { limit: number },
): Promise<readonly (Payment & { description: string | null })[]> =>
  db.any(sql.type(RecentPaymentRow)`
    SELECT ${paymentColumns}, newest_links.description
    FROM (
      SELECT id, description FROM links WHERE user_id = ${userId} AND mode = ${mode}
      ORDER BY created_at DESC, seq DESC LIMIT ${paidLinksMax}
    ) AS newest_links
    CROSS JOIN LATERAL (
      SELECT * FROM payments WHERE link_id = newest_links.id
      ORDER BY first_seen_at DESC, id DESC LIMIT ${limit}
    ) AS payments
    ORDER BY payments.first_seen_at DESC, payments.id DESC LIMIT ${limit}
  `);

const CountRow = z.object({ count: z.int() });

/** Counts the payments on an owner's links that have settled but were not applied. */
export const countUnappliedPayments = async (
  db: Db,
  { mode, userId }: OwnMode,
): Promise<BoundedCount> => {
  const { count } = await db.one(sql.type(CountRow)`
    SELECT count(*)::int FROM (
      SELECT FROM unapplied_payments
      WHERE user_id = ${userId} AND mode = ${mode} ${limitClause}
    ) AS counted
  `);
  return toBoundedCount(count);
};
