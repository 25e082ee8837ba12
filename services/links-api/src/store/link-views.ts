import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import { LinkStatus } from "@payment-links/contracts";
import type { LinkView, OwnedLinkView, OwnerView } from "../domain/link-view.ts";

const ViewRow = z.object({
  id: z.string(),
  userId: z.string(),
  status: LinkStatus,
  toAmount: z.string(),
  receivedAmount: z.string(),
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  description: z.string().nullable(),
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  walletId: z.string(),
  walletProvider: z.string().nullable(),
  destinationAddress: z.string(),
  tokenId: z.string(),
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
}) satisfies z.ZodType<OwnerView>;

const OwnedViewRow = ViewRow.extend({ owner: Owner });

// Amounts were written as plain decimal text, and `numeric` keeps their digits as they were.
const columns = sql.fragment`
  links.id, links.user_id AS "userId", links.status, links.to_amount AS "toAmount",
  links.received_amount AS "receivedAmount", links.current_usage AS "currentUsage",
  links.max_usage AS "maxUsage", links.description, links.created_at AS "createdAt",
  links.expires_at AS "expiresAt", links.wallet_id AS "walletId",
  links.wallet_provider AS "walletProvider", links.destination_address AS "destinationAddress",
  links.token_id AS "tokenId", links.last_transaction_id AS "lastTransactionId"
`;

/** Finds a link with its owner's profile, by primary keys alone. */
export const findLinkView = async (
  db: CommonQueryMethods,
  linkId: string,
): Promise<OwnedLinkView | undefined> => {
  const row = await db.maybeOne(sql.prepared("find_link_view", OwnedViewRow)`
    SELECT ${columns}, accounts.profile AS owner
    FROM links JOIN accounts ON accounts.id = links.user_id
    WHERE links.id = ${linkId}
  `);
  return row ?? undefined;
};

/** Finds a link of one owner; another's link is as good as none. */
export const findOwnLinkView = async (
  db: CommonQueryMethods,
  { linkId, userId }: { linkId: string; userId: string },
): Promise<LinkView | undefined> => {
  const row = await db.maybeOne(sql.type(ViewRow)`
    SELECT ${columns} FROM links WHERE id = ${linkId} AND user_id = ${userId}
  `);
  return row ?? undefined;
};

export type LinkFilter = {
  userId: string;
  status: LinkStatus | null;
  now: Date;
  offset: number;
  limit: number;
};

/**
 * A page of one owner's links, newest first, as their status is at `now`. Each status is one range of
 * `links_by_owner`, read no further than the page reaches, and the ranges are merged.
 */
export const listLinks = async (
  db: CommonQueryMethods,
  filter: LinkFilter,
): Promise<readonly LinkView[]> => {
  const { status, offset, limit } = filter;
  const ranges = rangesOf[status ?? "any"](filter).map((range) => sql.fragment`(${range})`);
  return db.any(sql.type(ViewRow)`
    SELECT ${columns}
    FROM (${sql.join(ranges, sql.fragment` UNION ALL `)}) AS links
    ORDER BY created_at DESC, seq DESC
    LIMIT ${limit} OFFSET ${offset}
  `);
};

const rangesOf: Record<LinkStatus | "any", (filter: LinkFilter) => FragmentSqlToken[]> = {
  any: (filter) => [
    storedAs("active", filter),
    storedAs("completed", filter),
    storedAs("inactive", filter),
  ],
  active: (filter) => [stillActive(filter)],
  completed: (filter) => [storedAs("completed", filter)],
  inactive: (filter) => [storedAs("inactive", filter), lapsed(filter)],
};

const storedAs = (status: LinkStatus, { userId, offset, limit }: LinkFilter) => sql.fragment`
  SELECT * FROM links WHERE user_id = ${userId} AND status = ${status}
  ORDER BY created_at DESC, seq DESC LIMIT ${offset + limit}
`;

const stillActive = ({ userId, now, offset, limit }: LinkFilter) => sql.fragment`
  SELECT * FROM links
  WHERE user_id = ${userId} AND status = 'active'
    AND (expires_at IS NULL OR expires_at > ${sql.timestamp(now)})
  ORDER BY created_at DESC, seq DESC LIMIT ${offset + limit}
`;

// OFFSET 0 keeps the planner from walking all of an owner's active links in the page's order to find
// the few that have expired: those come from their own index, and are sorted after.
const lapsed = ({ userId, now, offset, limit }: LinkFilter) => sql.fragment`
  SELECT * FROM (
    SELECT * FROM links
    WHERE user_id = ${userId} AND status = 'active' AND expires_at <= ${sql.timestamp(now)}
    OFFSET 0
  ) AS lapsed
  ORDER BY created_at DESC, seq DESC LIMIT ${offset + limit}
`;
