import { sql } from "slonik";
import * as z from "zod";
import type { Mode } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import type { Payment } from "../domain/payment.ts";
import type { LinkCursor } from "./link-search.ts";
import { PaymentRow, paymentColumns } from "./payments.ts";

/** The range of times at which payments were first seen. `from` is inclusive, `to` is exclusive. */
export type FirstSeenRange = { from?: Date | undefined; to?: Date | undefined };

/** The position of a payment among its link's payments, which are ordered from newest to oldest. */
export type PaymentCursor = Pick<Payment, "firstSeenAt" | "id">;

const ExportedLinkRow = z.object({
  id: z.string(),
  createdAt: z.date(),
  seq: z.string(),
  description: z.string().nullable(),
});

/**
 * A link whose payments are exported, with its position among its owner's links and its exported
 * fields.
 */
export type ExportedLink = z.output<typeof ExportedLinkRow>;

/** Lists an owner's next links after a position, newest first. */
export const listLinksAfter = (
  db: Db,
  {
    before,
    limit,
    mode,
    userId,
  }: { before: LinkCursor; limit: number; mode: Mode; userId: string },
): Promise<readonly ExportedLink[]> =>
  db.any(sql.type(ExportedLinkRow)`
    SELECT id, created_at AS "createdAt", seq, description FROM links
    WHERE user_id = ${userId} AND mode = ${mode}
      AND (created_at, seq) < (${sql.timestamp(before.createdAt)}, ${before.seq}::int8)
    ORDER BY created_at DESC, seq DESC LIMIT ${limit}
  `);

/**
 * Lists payments of several links, in the order of the links and from newest to oldest for each
 * link. `newest` is the first payment to list. Stops at the limit.
 */
export const listPaymentsOfLinks = (
  db: Db,
  {
    from,
    limit,
    linkIds,
    newest,
    to,
  }: FirstSeenRange & {
    limit: number;
    linkIds: readonly string[];
    newest?: PaymentCursor | undefined;
  },
): Promise<readonly Payment[]> =>
  db.any(sql.type(PaymentRow)`
    SELECT ${paymentColumns}
    FROM unnest(${sql.array([...linkIds], "text")}) WITH ORDINALITY AS walked (id, place)
    CROSS JOIN LATERAL (
      SELECT * FROM payments WHERE link_id = walked.id AND ${buildRangeCondition({ from, to })} AND ${
        newest === undefined
          ? sql.fragment`true`
          : sql.fragment`
              (first_seen_at, id) <= (${sql.timestamp(newest.firstSeenAt)}, ${newest.id})`
      }
      ORDER BY first_seen_at DESC, id DESC LIMIT ${limit}
    ) AS payments
    ORDER BY walked.place, payments.first_seen_at DESC, payments.id DESC LIMIT ${limit}
  `);

/** Lists the payments of a link that are older than a given one, newest first. */
export const listPaymentsAfter = (
  db: Db,
  { last, limit, ...firstSeenRange }: FirstSeenRange & { last: Payment; limit: number },
): Promise<readonly Payment[]> =>
  db.any(sql.type(PaymentRow)`
    SELECT ${paymentColumns} FROM payments
    WHERE link_id = ${last.linkId} AND ${buildRangeCondition(firstSeenRange)}
      AND (first_seen_at, id) < (${sql.timestamp(last.firstSeenAt)}, ${last.id})
    ORDER BY first_seen_at DESC, id DESC LIMIT ${limit}
  `);

const CountRow = z.object({
  count: z.int(),
  firstSeenAt: z.date().nullable(),
  id: z.string().nullable(),
});
const countMax = 1_000_000;

/**
 * Returns the number of a link's payments in a time range, and the newest of them, both from the
 * same snapshot. The number is undefined if it is above a million.
 */
export const countLinkPayments = async (
  db: Db,
  { linkId, ...firstSeenRange }: FirstSeenRange & { linkId: string },
): Promise<{ count: number | undefined; newest: PaymentCursor | undefined }> => {
  const paymentsInRange = sql.fragment`FROM payments WHERE link_id = ${linkId} AND ${buildRangeCondition(firstSeenRange)}`;
  const { count, firstSeenAt, id } = await db.one(sql.type(CountRow)`
    SELECT counted.count, newest.first_seen_at AS "firstSeenAt", newest.id
    FROM (
      SELECT count(*)::int FROM (SELECT ${paymentsInRange} LIMIT ${countMax + 1}) AS counted
    ) AS counted
    LEFT JOIN (
      SELECT first_seen_at, id ${paymentsInRange} ORDER BY first_seen_at DESC, id DESC LIMIT 1
    ) AS newest ON true
  `);
  return {
    count: count > countMax ? undefined : count,
    newest: firstSeenAt === null || id === null ? undefined : { firstSeenAt, id },
  };
};

const buildRangeCondition = ({ from, to }: FirstSeenRange) =>
  sql.and([
    from && sql.fragment`first_seen_at >= ${sql.timestamp(from)}`,
    to && sql.fragment`first_seen_at < ${sql.timestamp(to)}`,
  ]);
