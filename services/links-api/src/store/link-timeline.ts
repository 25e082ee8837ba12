import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import { LinkStatus, isId, timelineEntryKinds } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import {
  type LinkLifecycle,
  type TimelineEntryKind,
  type TimelinePosition,
  getKindRank,
} from "../domain/link-timeline.ts";
import { type Payment } from "../domain/payment.ts";
import type { Refund } from "../domain/refund.ts";
import { findPayments } from "./payments.ts";
import { findRefunds } from "./refunds.ts";

const LifecycleRow = z.object({
  createdAt: z.date(),
  createdBy: z.string().nullable(),
  deactivatedAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  lastAppliedAt: z.date().nullable(),
  lastTransactionId: z.string().nullable(),
  status: LinkStatus,
}) satisfies z.ZodType<LinkLifecycle>;

/**
 * Returns the fields of an owner's link that its timeline needs, and the API key or session that
 * created the link.
 */
export const findLinkLifecycle = async (
  db: Db,
  { linkId, userId }: { linkId: string; userId: string },
): Promise<z.output<typeof LifecycleRow> | undefined> =>
  (await db.maybeOne(sql.type(LifecycleRow)`
    SELECT links.created_at AS "createdAt", links.created_by AS "createdBy",
      links.deactivated_at AS "deactivatedAt", links.expires_at AS "expiresAt",
      payments.applied_at AS "lastAppliedAt", links.last_transaction_id AS "lastTransactionId",
      links.status
    FROM links LEFT JOIN payments ON payments.id = links.last_transaction_id
    WHERE links.id = ${linkId} AND links.user_id = ${userId}
  `)) ?? undefined;

const PositionRow = z.object({
  at: z.date(),
  kind: z.enum(timelineEntryKinds),
  subjectId: z.string().nullable(),
}) satisfies z.ZodType<TimelinePosition>;

type TimelineQuery = {
  linkId: string;
  /** The timeline entries of the link itself. */
  linkPositions: readonly TimelinePosition[];
  after: TimelinePosition | undefined;
  /** `asc` lists the oldest entries first. */
  order: "asc" | "desc";
  limit: number;
};

/** A position with its payment or refund, if any. */
export type TimelineRecord = TimelinePosition & {
  payment: Payment | undefined;
  refund: Refund | undefined;
};

/**
 * Lists the timeline entries of a link, its payments and its refunds after a position, in order.
 * The entries of each kind are a range of an index. Only the entries for this page are read.
 */
export const listTimeline = async (
  db: Db,
  { after, limit, linkId, linkPositions, order }: TimelineQuery,
): Promise<readonly TimelineRecord[]> => {
  const rows = linkPositions.map(({ at, kind, subjectId }) => [
    at.toISOString(),
    getKindRank(kind),
    kind,
    subjectId,
  ]);
  const ranges = Object.entries(indexRanges).map(([kind, range]) =>
    selectPositions({
      ...range,
      after,
      kind: z.enum(timelineEntryKinds).parse(kind),
      limit,
      linkId,
      order,
    }),
  );
  const direction = directions[order];
  const positions = await db.any(sql.type(PositionRow)`
    SELECT at, kind, subject_id AS "subjectId" FROM (
      SELECT * FROM ${sql.unnest(rows, ["timestamptz", "int4", "text", "text"])}
        AS own (at, rank, kind, subject_id)
      WHERE ${isLinkPositionAfter(after, order)}
      UNION ALL ${sql.join(ranges, sql.fragment` UNION ALL `)}
    ) AS places
    ORDER BY at ${direction}, rank ${direction}, subject_id ${direction} LIMIT ${limit}
  `);
  const subjectIds = positions.flatMap(({ subjectId }) => subjectId ?? []);
  const payments = await findPayments(db, subjectIds);
  const refunds = await findRefunds(
    db,
    subjectIds.filter((id) => isId("rfd", id)),
  );
  return positions.map((position) => ({
    ...position,
    payment: payments.get(position.subjectId ?? ""),
    refund: refunds.get(position.subjectId ?? ""),
  }));
};

const directions = { asc: sql.fragment`ASC`, desc: sql.fragment`DESC` };
/** Compares an entry with the cursor before it. */
const comparisons = { asc: sql.fragment`>`, desc: sql.fragment`<` };

type Range = { table: FragmentSqlToken; time: FragmentSqlToken; condition: FragmentSqlToken };

const paymentTable = sql.fragment`payments`;

// These expressions match those of the indexes. The indexes of `payment_ended` and
// `payment_orphaned` are partial and contain only the matching payments.
const indexRanges: Partial<Record<TimelineEntryKind, Range>> = {
  payment_seen: {
    table: paymentTable,
    time: sql.fragment`first_seen_at`,
    condition: sql.fragment`true`,
  },
  payment_ended: {
    table: paymentTable,
    time: sql.fragment`coalesce(ended_at, applied_at, first_seen_at)`,
    condition: sql.fragment`status <> 'processing'`,
  },
  payment_orphaned: {
    table: paymentTable,
    time: sql.fragment`coalesce(orphaned_at, ended_at, applied_at, first_seen_at)`,
    // This includes payments that have returned to their chain, because the column does not change
    // then.
    condition: sql.fragment`is_orphaned`,
  },
  refund_recorded: {
    table: sql.fragment`refunds`,
    time: sql.fragment`recorded_at`,
    condition: sql.fragment`true`,
  },
};

type RangeQuery = Range & Omit<TimelineQuery, "linkPositions"> & { kind: TimelineEntryKind };

const selectPositions = ({
  after,
  condition,
  kind,
  limit,
  linkId,
  order,
  table,
  time,
}: RangeQuery) => sql.fragment`
  (
    SELECT ${time}, ${getKindRank(kind)}::int4, ${kind}, id FROM ${table}
    WHERE link_id = ${linkId} AND ${condition} AND ${isAfterCursor({ after, kind, order, time })}
    ORDER BY ${time} ${directions[order]}, id ${directions[order]} LIMIT ${limit}
  )
`;

/**
 * Builds the condition for entries after the cursor. It differs by kind, so that each index scan
 * starts at the cursor.
 */
const isAfterCursor = ({
  after,
  kind,
  order,
  time,
}: Pick<RangeQuery, "after" | "kind" | "order" | "time">) => {
  if (after === undefined) return sql.fragment`true`;
  const afterTime = sql.timestamp(after.at);
  const comparison = comparisons[order];
  const rankDifference = getKindRank(kind) - getKindRank(after.kind);
  if (rankDifference === 0) {
    return sql.fragment`(${time}, id) ${comparison} (${afterTime}, ${after.subjectId ?? ""})`;
  }
  // At the time of the cursor, kinds with a higher rank come later.
  const isLaterKind = rankDifference > 0 === (order === "asc");
  return isLaterKind
    ? sql.fragment`${time} ${comparison}= ${afterTime}`
    : sql.fragment`${time} ${comparison} ${afterTime}`;
};

/**
 * Matches the link's own entries after the cursor. Their payment ids do not matter, because a link
 * has at most one entry of each kind.
 */
const isLinkPositionAfter = (after: TimelinePosition | undefined, order: "asc" | "desc") =>
  after === undefined
    ? sql.fragment`true`
    : sql.fragment`
        (at, rank) ${comparisons[order]} (${sql.timestamp(after.at)}, ${getKindRank(after.kind)}::int4)
      `;
