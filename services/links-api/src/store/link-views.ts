import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import type { LinkStatus, Mode } from "@payment-links/contracts";
import { type Db, defineTable } from "@payment-links/postgres";
import type { LinkView, OwnedLinkView, OwnerView } from "../domain/link-view.ts";
import { type LoadOne, createBatchLoader } from "./batch-loader.ts";
import { LinkRow } from "./links.ts";

/** A row of {@link linkViewColumns}. */
export const ViewRow = LinkRow.omit({
  version: true,
  chainId: true,
  tokenAddress: true,
}).extend({ toAmount: z.string(), receivedAmount: z.string() }) satisfies z.ZodType<LinkView>;

const Owner = z.object({
  id: z.string(),
  handle: z.string(),
  username: z.string(),
  dateCreated: z.string(),
  profileImage: z.string().nullable(),
  bio: z.string().nullable(),
  backgroundImage: z.string().nullable(),
  backgroundColour: z.string().nullable(),
  links: z.array(z.string()).nullable(),
  wallets: z.array(
    z.object({ id: z.string(), isDefault: z.boolean(), isChainDefault: z.boolean() }),
  ),
  // Records of earlier releases lack this field.
  returnUrl: z.string().nullable().default(null),
  isSuspended: z.boolean().optional(),
  isVerified: z.boolean().optional(),
}) satisfies z.ZodType<OwnerView>;

const OwnedViewRow = ViewRow.extend({ owner: Owner });

/**
 * The columns of a link for responses. Amounts are stored as `numeric`, which preserves the digits
 * of the original decimal text.
 */
export const { columns: linkViewColumns } = defineTable(ViewRow, { from: "links" });

/** Finds a link, with its owner's profile. Returns undefined if the link does not exist. */
export type FindLinkView = LoadOne<OwnedLinkView>;

/** Creates a loader for the current state of links, which reads only by primary key. */
export const createLinkViewLoader = (db: Db): FindLinkView =>
  createBatchLoader(async (linkIds) => {
    const views = await findLinkViews(db, linkIds);
    return new Map(views.map((view) => [view.id, view]));
  });

const findLinkViews = (db: Db, linkIds: readonly string[]): Promise<readonly OwnedLinkView[]> =>
  db.any(sql.prepared("find_link_views", OwnedViewRow)`
    SELECT ${linkViewColumns}, accounts.profile AS owner
    FROM links JOIN accounts ON accounts.id = links.user_id
    WHERE links.id = ANY(${sql.array([...linkIds], "text")})
  `);

/** Finds one of an owner's links. Returns undefined if the link belongs to another owner. */
export const findOwnLinkView = async (
  db: Db,
  { linkId, userId }: { linkId: string; userId: string },
): Promise<LinkView | undefined> =>
  (await db.maybeOne(sql.type(ViewRow)`
    SELECT ${linkViewColumns} FROM links WHERE id = ${linkId} AND user_id = ${userId}
  `)) ?? undefined;

export type LinkFilter = {
  userId: string;
  mode: Mode;
  status: LinkStatus | null;
  now: Date;
  offset: number;
  limit: number;
  /**
   * The link at which the list and its offset start. If it is omitted, they start at the newest
   * link. Must not be combined with a status.
   */
  startKey?: LinkSortKey;
};

/** The sort key of an owner's links, in the text format of Postgres. */
export type LinkSortKey = { createdAt: string; seq: string };

/**
 * Lists a page of one owner's links, newest first, with their status at `now`. Merges ranges of
 * indexes and reads each range only as far as the page needs. Before the page, only index entries
 * are read, provided that vacuum has marked the table's pages as all-visible. If the expiry job
 * marks an expired link between the two statements, the link is still found.
 */
export const listLinks = async (db: Db, filter: LinkFilter): Promise<readonly LinkView[]> => {
  const { userId, mode, offset, limit } = filter;
  const page = sql.fragment`ORDER BY created_at DESC, seq DESC LIMIT ${limit} OFFSET ${offset}`;
  const unmarkedCount = filter.status === "inactive" ? await countUnmarkedExpired(db, filter) : 0;
  if (unmarkedCount > unmarkedSortedMax) {
    const inactiveLinks = await scanInactive(db, filter);
    if (inactiveLinks !== undefined) return inactiveLinks;
  }
  const hasUnmarkedExpired = unmarkedCount > 0;
  if (offset === 0) {
    const merged = mergeRanges({ ...filter, hasUnmarkedExpired, selectedColumns: sql.fragment`*` });
    return db.any(sql.type(ViewRow)`SELECT ${linkViewColumns} FROM ${merged} ${page}`);
  }
  const merged = mergeRanges({
    ...filter,
    hasUnmarkedExpired,
    selectedColumns: sql.fragment`created_at, seq`,
  });
  return db.any(sql.type(ViewRow)`
    WITH page AS MATERIALIZED (SELECT created_at, seq FROM ${merged} ${page})
    SELECT ${linkViewColumns}
    FROM page JOIN links ON links.user_id = ${userId} AND links.mode = ${mode}
      AND links.created_at = page.created_at AND links.seq = page.seq
    ORDER BY page.created_at DESC, page.seq DESC
  `);
};

/**
 * A list of links, whether it includes expired links that are not marked yet, and the columns to
 * select.
 */
type Range = LinkFilter & { hasUnmarkedExpired: boolean; selectedColumns: FragmentSqlToken };

const mergeRanges = (range: Range): FragmentSqlToken => {
  const ranges = rangesByStatus[range.status ?? "any"](range).map(
    (fragment) => sql.fragment`(${fragment})`,
  );
  return sql.fragment`(${sql.join(ranges, sql.fragment` UNION ALL `)}) AS links`;
};

const rangesByStatus: Record<LinkStatus | "any", (range: Range) => FragmentSqlToken[]> = {
  any: (filter) => [selectAll(filter)],
  active: (filter) => [selectWithoutExpiry(filter), selectExpiringLater(filter)],
  completed: (filter) => [selectByStatus("completed", filter)],
  // Expired links that are not marked yet are read from a separate index.
  inactive: (filter) => [
    selectByStatus("inactive", filter),
    ...(filter.hasUnmarkedExpired ? [selectUnmarkedExpired(filter)] : []),
  ],
};

const limitRows = ({ offset, limit }: Range) => sql.fragment`
  ORDER BY created_at DESC, seq DESC LIMIT ${offset + limit}
`;

const selectAll = (filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM links
  WHERE user_id = ${filter.userId} AND mode = ${filter.mode} ${buildStartCondition(filter.startKey)} ${limitRows(filter)}
`;

/**
 * Builds the condition for the link at which a list starts. Without a key, the list starts at the
 * newest link.
 */
export const buildStartCondition = (key: LinkSortKey | undefined): FragmentSqlToken =>
  key === undefined
    ? sql.fragment``
    : sql.fragment`AND (created_at, seq) <= (${key.createdAt}::timestamptz, ${key.seq}::int8)`;

// The status is a literal, so that the planner can use the partial index.
const selectByStatus = (status: "completed" | "inactive", filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM links
  WHERE user_id = ${filter.userId} AND mode = ${filter.mode} AND status = ${sql.literalValue(status)} ${limitRows(filter)}
`;

const selectWithoutExpiry = (filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM links
  WHERE user_id = ${filter.userId} AND mode = ${filter.mode} AND status = 'active' AND expires_at IS NULL
  ${limitRows(filter)}
`;

/**
 * If at most this number of links have an expiry in the future, they are sorted. Otherwise the list
 * is scanned.
 */
const sortedLinksMax = 250;

// The index on the expiry returns the links with an expiry in the future directly, because they
// come after all expired ones. If there are only a few, they are sorted. If there are many, a scan
// of all links finds the newest ones quickly. The added zero interval prevents the planner from
// sorting them all.
const selectExpiringLater = (filter: Range) => sql.fragment`
  WITH few AS MATERIALIZED (
    SELECT * FROM links
    WHERE user_id = ${filter.userId} AND mode = ${filter.mode} AND status = 'active'
      AND expires_at > ${sql.timestamp(filter.now)}
    ORDER BY expires_at LIMIT ${sortedLinksMax + 1}
  )
  (
    SELECT ${filter.selectedColumns} FROM few
    WHERE (SELECT count(*) FROM few) <= ${sortedLinksMax} ${limitRows(filter)}
  )
  UNION ALL
  (
    SELECT ${filter.selectedColumns} FROM links
    WHERE (SELECT count(*) FROM few) > ${sortedLinksMax} AND user_id = ${filter.userId} AND mode = ${filter.mode}
      AND status = 'active' AND expires_at + interval '0' > ${sql.timestamp(filter.now)}
    ${limitRows(filter)}
  )
`;

const isUnmarkedExpired = ({ mode, now, userId }: LinkFilter) => sql.fragment`
  user_id = ${userId} AND mode = ${mode} AND status = 'active' AND expires_at <= ${sql.timestamp(now)}
`;

// `OFFSET 0` prevents the planner from scanning all of an owner's links in the order of the page.
const selectUnmarkedExpired = (filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM (SELECT * FROM links WHERE ${isUnmarkedExpired(filter)} OFFSET 0) AS lapsed
  ${limitRows(filter)}
`;

/** If at most this number of expired links are not marked yet, they are sorted. */
const unmarkedSortedMax = 50;

/**
 * The number of newest links that are scanned for inactive ones if many links have just expired.
 */
const scannedLinksMax = 5_000;

/**
 * Returns the page of inactive links if enough of the owner's newest links are inactive, and
 * undefined otherwise. If a million links have just expired, this is nearly always enough, and it
 * avoids sorting all of them.
 */
const scanInactive = async (
  db: Db,
  { limit, mode, now, offset, userId }: LinkFilter,
): Promise<readonly LinkView[] | undefined> => {
  const links = await db.any(sql.type(ViewRow)`
    SELECT ${linkViewColumns} FROM (
      SELECT * FROM links WHERE user_id = ${userId} AND mode = ${mode}
      ORDER BY created_at DESC, seq DESC LIMIT ${scannedLinksMax}
    ) AS links
    WHERE status = 'inactive' OR status = 'active' AND expires_at <= ${sql.timestamp(now)}
    ORDER BY created_at DESC, seq DESC LIMIT ${limit} OFFSET ${offset}
  `);
  return links.length === limit ? links : undefined;
};

const CountRow = z.object({ count: z.int() });

/**
 * Returns the number of expired links that are not marked yet. Stops counting at one more than can
 * be sorted. The expiry job marks links in the order of their expiry and leaves dead index entries.
 * This query reads in the opposite order, so it reaches those entries last.
 */
const countUnmarkedExpired = (db: Db, filter: LinkFilter): Promise<number> =>
  db.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int FROM (
      SELECT FROM links WHERE ${isUnmarkedExpired(filter)}
      ORDER BY expires_at DESC LIMIT ${unmarkedSortedMax + 1}
    ) AS lapsed
  `);
