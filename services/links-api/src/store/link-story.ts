import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import { LinkStatus, storyKinds } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { type LinkLife, type StoryKind, type StoryPlace, rankOf } from "../domain/link-story.ts";
import { type Payment } from "../domain/payment.ts";
import { findPayments } from "./payments.ts";

const LifeRow = z.object({
  createdAt: z.date(),
  createdBy: z.string().nullable(),
  deactivatedAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  lastAppliedAt: z.date().nullable(),
  lastTransactionId: z.string().nullable(),
  status: LinkStatus,
}) satisfies z.ZodType<LinkLife>;

/** What is known of the life of an owner's link, and the key or session that made it. */
export const findLinkLife = async (
  db: Db,
  { linkId, userId }: { linkId: string; userId: string },
): Promise<z.output<typeof LifeRow> | undefined> => {
  const row = await db.maybeOne(sql.type(LifeRow)`
    SELECT links.created_at AS "createdAt", links.created_by AS "createdBy",
      links.deactivated_at AS "deactivatedAt", links.expires_at AS "expiresAt",
      payments.applied_at AS "lastAppliedAt", links.last_transaction_id AS "lastTransactionId",
      links.status
    FROM links LEFT JOIN payments ON payments.id = links.last_transaction_id
    WHERE links.id = ${linkId} AND links.user_id = ${userId}
  `);
  return row ?? undefined;
};

const PlaceRow = z.object({
  at: z.date(),
  kind: z.enum(storyKinds),
  paymentId: z.string().nullable(),
}) satisfies z.ZodType<StoryPlace>;

type WantedStory = {
  linkId: string;
  /** What happened with the link itself. */
  own: readonly StoryPlace[];
  after: StoryPlace | undefined;
  limit: number;
};

/**
 * What happened with a link and its payments behind a place, in order. Each kind is a range of an index,
 * read no further than the page reaches.
 */
export const listStory = async (
  db: Db,
  { after, limit, linkId, own }: WantedStory,
): Promise<readonly (StoryPlace & { payment: Payment | undefined })[]> => {
  const rows = own.map(({ at, kind, paymentId }) => [
    at.toISOString(),
    rankOf(kind),
    kind,
    paymentId,
  ]);
  const ranges = Object.entries(rangesOfPayments).map(([kind, range]) =>
    placesOf({ ...range, after, kind: z.enum(storyKinds).parse(kind), limit, linkId }),
  );
  const places = await db.any(sql.type(PlaceRow)`
    SELECT at, kind, payment_id AS "paymentId" FROM (
      SELECT * FROM ${sql.unnest(rows, ["timestamptz", "int4", "text", "text"])}
        AS own (at, rank, kind, payment_id)
      WHERE ${isBehindOwn(after)}
      UNION ALL ${sql.join(ranges, sql.fragment` UNION ALL `)}
    ) AS places
    ORDER BY at, rank, payment_id LIMIT ${limit}
  `);
  const payments = await findPayments(
    db,
    places.flatMap(({ paymentId }) => paymentId ?? []),
  );
  return places.map((place) => ({ ...place, payment: payments.get(place.paymentId ?? "") }));
};

type Range = { time: FragmentSqlToken; condition: FragmentSqlToken };

// As their indexes have them, of which the last two hold no other payments.
const rangesOfPayments: Partial<Record<StoryKind, Range>> = {
  payment_seen: { time: sql.fragment`first_seen_at`, condition: sql.fragment`true` },
  payment_ended: {
    time: sql.fragment`coalesce(ended_at, applied_at, first_seen_at)`,
    condition: sql.fragment`status <> 'processing'`,
  },
  payment_orphaned: {
    time: sql.fragment`coalesce(orphaned_at, ended_at, applied_at, first_seen_at)`,
    // Also of what has come back: that stays in the row.
    condition: sql.fragment`is_orphaned`,
  },
};

type WantedRange = Range & Omit<WantedStory, "own"> & { kind: StoryKind };

const placesOf = ({ after, condition, kind, limit, linkId, time }: WantedRange) => sql.fragment`
  (
    SELECT ${time}, ${rankOf(kind)}::int4, ${kind}, id FROM payments
    WHERE link_id = ${linkId} AND ${condition} AND ${isBehind(after, kind, time)}
    ORDER BY ${time}, id LIMIT ${limit}
  )
`;

/** Said for each kind by itself, so that its index begins there. */
const isBehind = (after: StoryPlace | undefined, kind: StoryKind, time: FragmentSqlToken) => {
  if (after === undefined) return sql.fragment`true`;
  const at = sql.timestamp(after.at);
  const ranks = rankOf(kind) - rankOf(after.kind);
  if (ranks < 0) return sql.fragment`${time} > ${at}`;
  if (ranks > 0) return sql.fragment`${time} >= ${at}`;
  return sql.fragment`(${time}, id) > (${at}, ${after.paymentId ?? ""})`;
};

/** Of each kind there is one at most. */
const isBehindOwn = (after: StoryPlace | undefined) =>
  after === undefined
    ? sql.fragment`true`
    : sql.fragment`(at, rank) > (${sql.timestamp(after.at)}, ${rankOf(after.kind)}::int4)`;
