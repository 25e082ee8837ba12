import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import type { LinkStatus, Mode, inactiveReasons } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import type { LinkSearch } from "../domain/link-search.ts";
import type { LinkView } from "../domain/link-view.ts";
import { ViewRow, linkViewColumns } from "./link-views.ts";

/**
 * The position of a link among its owner's links of its mode, which are ordered from newest to
 * oldest.
 */
export type LinkCursor = { createdAt: Date; seq: string };

/** A filter for an owner's links. The status of a link is its status at `now`. */
export type LinkQuery = {
  userId: string;
  mode: Mode;
  now: Date;
  status?: LinkStatus | undefined;
  inactiveReason?: (typeof inactiveReasons)[number] | undefined;
  search?: LinkSearch | undefined;
  tokenId?: string | undefined;
  /** The range of creation times. `from` is inclusive, `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** If defined, only links that were created before this one match. */
  before?: LinkCursor | undefined;
};

const CursorRow = z.object({ id: z.string(), createdAt: z.date(), seq: z.string() });

/**
 * Returns the position of a link among its owner's links. Returns undefined if the link belongs to
 * another owner or is of the other mode.
 */
export const findLinkCursor = async (
  db: Db,
  { linkId, mode, userId }: { linkId: string } & Pick<LinkQuery, "userId" | "mode">,
): Promise<LinkCursor | undefined> =>
  (await db.maybeOne(sql.type(CursorRow)`
    SELECT id, created_at AS "createdAt", seq FROM links
    WHERE id = ${linkId} AND user_id = ${userId} AND mode = ${mode}
  `)) ?? undefined;

/**
 * The maximum number of links that one search scans. The caller can continue where the scan ended.
 */
export const scannedLinksMax = 5_000;

/** The links that a search found, and the last scanned link if there are more links to scan. */
export type LinkSearchResult = { links: readonly LinkView[]; lastScannedId: string | undefined };

/**
 * Returns a page of an owner's links that match a query, newest first. Uses an index to scan at
 * most 5,000 links, and stops when the page is full. This limits the cost of a search that has few
 * matches.
 */
export const searchLinks = async (
  db: Db,
  { limit, offset, ...query }: LinkQuery & { limit: number; offset: number },
): Promise<LinkSearchResult> => {
  const isExactLookup = query.search !== undefined && !("text" in query.search);
  // The end of the scan is read first. A link that is created after that only makes the scan longer
  // by one link, so no link is missed.
  const isShallowRange = isIndexRange(query) && offset + limit <= scannedLinksMax;
  const scanEnd = isExactLookup || isShallowRange ? null : await findScanEnd(db, query);
  const scanBound =
    scanEnd === null
      ? sql.fragment`true`
      : sql.fragment`
          (created_at, seq) >= (${sql.timestamp(scanEnd.createdAt)}, ${scanEnd.seq}::int8)`;
  // The inner limit makes the planner use the index. Without it, the planner would read all links
  // to find a few.
  const scan = sql.fragment`
    SELECT * FROM links WHERE ${buildScanCondition(query)} AND ${scanBound}
    ORDER BY created_at DESC, seq DESC LIMIT ${isShallowRange ? offset + limit : 2 * scannedLinksMax}
  `;
  const scannedLinks = isExactLookup ? sql.fragment`links` : sql.fragment`(${scan}) AS links`;
  const condition = isExactLookup
    ? sql.fragment`${buildScanCondition(query)} AND ${buildFilterCondition(query)}`
    : buildFilterCondition(query);
  const links = await db.any(sql.type(ViewRow)`
    SELECT ${linkViewColumns} FROM ${scannedLinks} WHERE ${condition}
    ORDER BY created_at DESC, seq DESC LIMIT ${limit} OFFSET ${offset}
  `);
  return { links, lastScannedId: links.length < limit ? scanEnd?.id : undefined };
};

/** Returns whether the matching links are exactly one range of an index. */
const isIndexRange = ({ inactiveReason, search, status, tokenId }: LinkQuery): boolean =>
  [inactiveReason, search, tokenId].every((value) => value === undefined) &&
  (status ?? "completed") === "completed";

/** Returns the last link that one search scans. Returns null if the scan reaches the end. */
const findScanEnd = (db: Db, query: LinkQuery): Promise<z.output<typeof CursorRow> | null> =>
  db.maybeOne(sql.type(CursorRow)`
    WITH places AS MATERIALIZED (
      SELECT created_at, seq FROM links WHERE ${buildScanCondition(query)}
      ORDER BY created_at DESC, seq DESC LIMIT 2 OFFSET ${scannedLinksMax - 1}
    )
    SELECT links.id, links.created_at AS "createdAt", links.seq
    FROM places JOIN links ON links.user_id = ${query.userId} AND links.mode = ${query.mode}
      AND links.created_at = places.created_at AND links.seq = places.seq
    WHERE (SELECT count(*) FROM places) > 1
    ORDER BY places.created_at DESC, places.seq DESC LIMIT 1
  `);

/** Builds the condition for the links to scan: a range of one index, in the order of the page. */
const buildScanCondition = ({ before, from, mode, status, to, userId }: LinkQuery) =>
  sql.and([
    sql.fragment`user_id = ${userId} AND mode = ${mode}`,
    // The status is a literal, so that the planner can use the partial index. It works only for
    // completed links, because their status never changes.
    status === "completed" && sql.fragment`status = 'completed'`,
    from && sql.fragment`created_at >= ${sql.timestamp(from)}`,
    to && sql.fragment`created_at < ${sql.timestamp(to)}`,
    before &&
      sql.fragment`(created_at, seq) < (${sql.timestamp(before.createdAt)}, ${before.seq}::int8)`,
  ]);

/** Builds the condition for an expired link that is still stored as active. */
export const isUnmarkedExpired = (now: Date): FragmentSqlToken =>
  sql.fragment`(status = 'active' AND expires_at <= ${sql.timestamp(now)})`;

/** Builds the condition for a link's status at a given time (rule STATE-3). */
export const buildStatusCondition = (status: LinkStatus, now: Date): FragmentSqlToken => {
  if (status === "completed") return sql.fragment`status = 'completed'`;
  return status === "active"
    ? sql.fragment`
        status = 'active' AND (expires_at IS NULL OR expires_at > ${sql.timestamp(now)})
      `
    : sql.fragment`(status = 'inactive' OR ${isUnmarkedExpired(now)})`;
};

/** Builds the condition that each scanned link must match. */
const buildFilterCondition = ({ inactiveReason, now, search, status, tokenId }: LinkQuery) => {
  return sql.and([
    // The scan selects completed links.
    status !== undefined && status !== "completed" && buildStatusCondition(status, now),
    inactiveReason === "expired" &&
      sql.fragment`
        ((status = 'inactive' AND deactivated_at IS NULL) OR ${isUnmarkedExpired(now)})
      `,
    inactiveReason === "deactivated" &&
      sql.fragment`status = 'inactive' AND deactivated_at IS NOT NULL`,
    tokenId !== undefined && sql.fragment`token_id = ${tokenId}`,
    search && buildSearchCondition(search),
  ]);
};

// The explicit collation makes the search case-insensitive in all languages, whatever the
// database's own collation is.
const buildSearchCondition = (search: LinkSearch): FragmentSqlToken => {
  if ("linkId" in search) return sql.fragment`id = ${search.linkId}`;
  if ("paymentReference" in search) {
    return sql.fragment`payment_reference = ${search.paymentReference}`;
  }
  return sql.fragment`
    position(lower(${search.text} COLLATE pg_c_utf8) IN lower(description COLLATE pg_c_utf8)) > 0
  `;
};

/** Selects an owner's newest link. Links that are created later precede it in the order. */
const selectNewestLink = ({ mode, userId }: Pick<LinkQuery, "userId" | "mode">) => sql.fragment`
  SELECT created_at, seq FROM links WHERE user_id = ${userId} AND mode = ${mode}
  ORDER BY created_at DESC, seq DESC LIMIT 1
`;

// A page contains the links after a cursor. For the first page, the cursor is therefore the unused
// position just before the newest link.
const beforeNewestColumns = sql.fragment`newest.created_at AS "createdAt", newest.seq + 1 AS seq`;

const StartRow = CursorRow.omit({ id: true });

/**
 * Returns the cursor before all of an owner's current links. Returns undefined if there are none.
 */
export const findStartCursor = async (
  db: Db,
  owner: Pick<LinkQuery, "userId" | "mode">,
): Promise<LinkCursor | undefined> =>
  (await db.maybeOne(sql.type(StartRow)`
    SELECT ${beforeNewestColumns} FROM (${selectNewestLink(owner)}) AS newest
  `)) ?? undefined;

const countMax = 1_000_000;

const CountRow = z.object({
  createdAt: z.date().nullable(),
  seq: z.string().nullable(),
  count: z.int().nullable(),
});

/**
 * Returns the number of matching links, and the cursor before all of the owner's links, both from
 * one snapshot. The number is undefined if it is above a million, or if the matching links are not
 * exactly one range of an index.
 */
export const countMatchingLinks = async (
  db: Db,
  query: LinkQuery,
): Promise<{ count: number | undefined; start: LinkCursor | undefined }> => {
  const countQuery = isIndexRange(query)
    ? sql.fragment`
        SELECT count(*)::int FROM (
          SELECT FROM links WHERE ${buildScanCondition(query)} LIMIT ${countMax + 1}
        ) AS counted`
    : sql.fragment`SELECT NULL::int AS count`;
  const { count, createdAt, seq } = await db.one(sql.type(CountRow)`
    SELECT counted.count, ${beforeNewestColumns}
    FROM (${countQuery}) AS counted LEFT JOIN (${selectNewestLink(query)}) AS newest ON true
  `);
  return {
    count: count === null || count > countMax ? undefined : count,
    start: createdAt === null || seq === null ? undefined : { createdAt, seq },
  };
};
