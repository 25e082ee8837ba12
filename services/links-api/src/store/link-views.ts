import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import { LinkStatus, LinkTexts } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import type { LinkView, OwnedLinkView, OwnerView } from "../domain/link-view.ts";
import { textColumns } from "./links.ts";
import { type LoadOne, createBatchLoader } from "./batch-loader.ts";

/** A row of {@link columns}. */
export const ViewRow = z.object({
  id: z.string(),
  userId: z.string(),
  status: LinkStatus,
  toAmount: z.string(),
  receivedAmount: z.string(),
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  ...LinkTexts.shape,
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  walletId: z.string(),
  walletProvider: z.string().nullable(),
  destinationAddress: z.string(),
  tokenId: z.string(),
  paymentReference: z.string(),
  lastTransactionId: z.string().nullable(),
}) satisfies z.ZodType<LinkView>;

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
  isSuspended: z.boolean().optional(),
  isVerified: z.boolean().optional(),
}) satisfies z.ZodType<OwnerView>;

const OwnedViewRow = ViewRow.extend({ owner: Owner });

/**
 * The columns of a link that is shown. Amounts were written as plain decimal text, and `numeric` keeps
 * their digits.
 */
export const linkViewColumns = sql.fragment`
  links.id, links.user_id AS "userId", links.status, links.to_amount AS "toAmount",
  links.received_amount AS "receivedAmount", links.current_usage AS "currentUsage",
  links.max_usage AS "maxUsage", ${textColumns}, links.created_at AS "createdAt",
  links.expires_at AS "expiresAt", links.wallet_id AS "walletId",
  links.wallet_provider AS "walletProvider", links.destination_address AS "destinationAddress",
  links.token_id AS "tokenId", links.payment_reference AS "paymentReference",
  links.last_transaction_id AS "lastTransactionId"
`;

/** Finds a link with its owner's profile; undefined if there is none. */
export type FindLinkView = LoadOne<OwnedLinkView>;

/** Reads links as they are now, by primary keys only. */
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

/** Finds a link of one owner. Another owner's link counts as none. */
export const findOwnLinkView = async (
  db: Db,
  { linkId, userId }: { linkId: string; userId: string },
): Promise<LinkView | undefined> => {
  const row = await db.maybeOne(sql.type(ViewRow)`
    SELECT ${linkViewColumns} FROM links WHERE id = ${linkId} AND user_id = ${userId}
  `);
  return row ?? undefined;
};

export type LinkFilter = {
  userId: string;
  status: LinkStatus | null;
  now: Date;
  offset: number;
  limit: number;
  /** Without a status: the link from which the offset is counted, and which is the first; the newest if left out. */
  startKey?: LinkSortKey;
};

/** What orders an owner's links, as Postgres writes it. */
export type LinkSortKey = { createdAt: string; seq: string };

/**
 * A page of one owner's links, newest first, with their status at `now`. It merges ranges of
 * indexes and reads each no further than the page reaches. What stands before the page is passed
 * over in the indexes, as far as vacuum has come by; only the page's own rows are read. Between its
 * statements a link can only go from expired to marked, and is found either way.
 */
export const listLinks = async (db: Db, filter: LinkFilter): Promise<readonly LinkView[]> => {
  const { userId, offset, limit } = filter;
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
    FROM page JOIN links ON links.user_id = ${userId}
      AND links.created_at = page.created_at AND links.seq = page.seq
    ORDER BY page.created_at DESC, page.seq DESC
  `);
};

/** A range of links, whether some have expired and are not marked yet, and the columns that are wanted. */
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
  // Expired links that are not marked yet come from their own index.
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
  WHERE user_id = ${filter.userId} ${buildStartCondition(filter.startKey)} ${limitRows(filter)}
`;

/** Where a list begins: at a link, or at the newest. */
export const buildStartCondition = (key: LinkSortKey | undefined): FragmentSqlToken =>
  key === undefined
    ? sql.fragment``
    : sql.fragment`AND (created_at, seq) <= (${key.createdAt}::timestamptz, ${key.seq}::int8)`;

// The status is in the text, so that the planner sees which partial index holds it.
const selectByStatus = (status: "completed" | "inactive", filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM links
  WHERE user_id = ${filter.userId} AND status = ${sql.literalValue(status)} ${limitRows(filter)}
`;

const selectWithoutExpiry = (filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM links
  WHERE user_id = ${filter.userId} AND status = 'active' AND expires_at IS NULL
  ${limitRows(filter)}
`;

/** Up to so many links that are yet to expire are sorted. If there are more, they are walked. */
const sortedLinksMax = 250;

// In the order of expiry, the links yet to expire come after all expired ones, however many those
// are. A few are sorted. If they are many, the newest are soon found among all links; there the
// added zero keeps the planner from sorting them all.
const selectExpiringLater = (filter: Range) => sql.fragment`
  WITH few AS MATERIALIZED (
    SELECT * FROM links
    WHERE user_id = ${filter.userId} AND status = 'active'
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
    WHERE (SELECT count(*) FROM few) > ${sortedLinksMax} AND user_id = ${filter.userId}
      AND status = 'active' AND expires_at + interval '0' > ${sql.timestamp(filter.now)}
    ${limitRows(filter)}
  )
`;

const isUnmarkedExpired = ({ now, userId }: LinkFilter) => sql.fragment`
  user_id = ${userId} AND status = 'active' AND expires_at <= ${sql.timestamp(now)}
`;

// OFFSET 0 keeps the planner from walking all of an owner's links in the page's order.
const selectUnmarkedExpired = (filter: Range) => sql.fragment`
  SELECT ${filter.selectedColumns} FROM (SELECT * FROM links WHERE ${isUnmarkedExpired(filter)} OFFSET 0) AS lapsed
  ${limitRows(filter)}
`;

/** So many links that have just expired are sorted without a look for something better. */
const unmarkedSortedMax = 50;

/** So many of an owner's newest links are looked through for inactive ones, where many have just expired. */
const scannedLinksMax = 5_000;

/**
 * The page of inactive links, if it is filled by an owner's newest links; undefined otherwise. Where a million
 * have just expired at once, and would all be sorted, it nearly always is.
 */
const scanInactive = async (
  db: Db,
  { limit, now, offset, userId }: LinkFilter,
): Promise<readonly LinkView[] | undefined> => {
  const links = await db.any(sql.type(ViewRow)`
    SELECT ${linkViewColumns} FROM (
      SELECT * FROM links WHERE user_id = ${userId}
      ORDER BY created_at DESC, seq DESC LIMIT ${scannedLinksMax}
    ) AS links
    WHERE status = 'inactive' OR status = 'active' AND expires_at <= ${sql.timestamp(now)}
    ORDER BY created_at DESC, seq DESC LIMIT ${limit} OFFSET ${offset}
  `);
  return links.length === limit ? links : undefined;
};

const CountRow = z.object({ count: z.int() });

/**
 * How many links have expired and are not marked yet, up to one more than are sorted. The job marks those first
 * that expired first, and what it leaves in the index is passed over last.
 */
const countUnmarkedExpired = (db: Db, filter: LinkFilter): Promise<number> =>
  db.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int FROM (
      SELECT FROM links WHERE ${isUnmarkedExpired(filter)}
      ORDER BY expires_at DESC LIMIT ${unmarkedSortedMax + 1}
    ) AS lapsed
  `);
