import { LRUCache } from "lru-cache";
import { sql } from "slonik";
import * as z from "zod";
import type { Db } from "@payment-links/postgres";
import type { LinkView } from "../domain/link-view.ts";
import { type LinkFilter, type LinkSortKey, listLinks, buildStartCondition } from "./link-views.ts";

/** Lists a page of one owner's links at any offset. */
export type ListLinks = (db: Db, filter: LinkFilter) => Promise<readonly LinkView[]>;

/** A link of an owner's list from which later pages are counted. */
type Anchor = LinkSortKey & {
  /** The number of links before it that were created until `settledUntil`. It never changes. */
  depth: number;
  settledUntil: Date;
};

/** The start of a page: a number of links after an anchor. */
type PageStart = { anchor: Anchor; skippedCount: number };

/** Below this offset, a page is found from the start. */
const deepOffsetMin = 10_000;

/** One anchor per account, because an account reads one deep page at a time. */
const accountsMax = 1_000;

/**
 * A link is stored some seconds after its creation time, which comes from another process's clock.
 * After this time, no more links are inserted between existing ones.
 */
const settlingMs = 5 * 60_000;

/** Each page counts all links created since the anchor, so an anchor expires. */
const anchorMsMax = 60 * 60_000;

/**
 * An anchor precedes its page by this many links, so it still does after new links or for earlier
 * pages.
 */
const anchorLeadCount = 1_000;

/**
 * Creates the list function. A deep page would have to skip all links before it. Links are never
 * deleted, and new ones come first. So the offset of a known link grows only by the number of newer
 * links. Lists of one status have no such anchor, because a link may enter them anywhere.
 */
export const createListLinks = (): ListLinks => {
  const anchors = new LRUCache<string, Anchor>({ max: accountsMax });
  return async (db, filter) => {
    const { offset, status, userId } = filter;
    if (status !== null || offset < deepOffsetMin) return listLinks(db, filter);
    const pageStart =
      (await findFromAnchor(db, anchors.get(userId), filter)) ?? (await findFromTop(db, filter));
    if (pageStart === "unsettled") return listLinks(db, filter);
    if (pageStart === "beyond") return [];
    anchors.set(userId, pageStart.anchor);
    return listLinks(db, { ...filter, startKey: pageStart.anchor, offset: pageStart.skippedCount });
  };
};

const CountRow = z.object({ count: z.int() });

/**
 * Finds a page from a known anchor, and a nearer anchor if the page is far from it. Undefined if
 * the page is before the anchor.
 */
const findFromAnchor = async (
  db: Db,
  anchor: Anchor | undefined,
  { now, offset, userId }: LinkFilter,
): Promise<PageStart | "beyond" | undefined> => {
  if (anchor === undefined) return undefined;
  const { depth, settledUntil } = anchor;
  if (now.getTime() - settledUntil.getTime() > anchorMsMax) return undefined;
  const newerCount = await db.oneFirst(
    sql.type(CountRow)`${selectNewerCount(userId, settledUntil)}`,
  );
  const skippedCount = offset - newerCount - depth;
  if (skippedCount < 0) return undefined;
  if (skippedCount <= 2 * anchorLeadCount) return { anchor, skippedCount };
  const stepCount = skippedCount - anchorLeadCount;
  const sortKey = await db.maybeOne(sql.type(SortKeyRow)`
    SELECT ${sortKeyColumns} FROM ${selectLinkAt({ userId, startKey: anchor, offset: stepCount })}
  `);
  if (sortKey === null) return "beyond";
  return {
    anchor: { ...sortKey, depth: depth + stepCount, settledUntil },
    skippedCount: anchorLeadCount,
  };
};

const SortKeyRow = z.object({ createdAt: z.string(), seq: z.string() });
const AnchorRow = SortKeyRow.extend({ isSettled: z.boolean(), newerCount: z.int() });

/**
 * Finds a page from the start. The anchor and the number of links before it are from one snapshot.
 */
const findFromTop = async (
  db: Db,
  { now, offset, userId }: LinkFilter,
): Promise<PageStart | "beyond" | "unsettled"> => {
  const settledUntil = new Date(now.getTime() - settlingMs);
  const anchorOffset = offset - anchorLeadCount;
  const row = await db.maybeOne(sql.type(AnchorRow)`
    SELECT ${sortKeyColumns}, created_at <= ${sql.timestamp(settledUntil)} AS "isSettled",
      (${selectNewerCount(userId, settledUntil)}) AS "newerCount"
    FROM ${selectLinkAt({ userId, offset: anchorOffset })}
  `);
  if (row === null) return "beyond";
  const { isSettled, newerCount, ...sortKey } = row;
  if (!isSettled) return "unsettled";
  const anchor = { ...sortKey, depth: anchorOffset - newerCount, settledUntil };
  return { anchor, skippedCount: anchorLeadCount };
};

const sortKeyColumns = sql.fragment`created_at::text AS "createdAt", seq::text AS seq`;

/** Selects the link at an offset after another one, or after the newest, using only the index. */
const selectLinkAt = ({
  userId,
  startKey,
  offset,
}: Pick<LinkFilter, "userId" | "startKey" | "offset">) =>
  sql.fragment`(
    SELECT created_at, seq FROM links WHERE user_id = ${userId} ${buildStartCondition(startKey)}
    ORDER BY created_at DESC, seq DESC LIMIT 1 OFFSET ${offset}
  ) AS link`;

const selectNewerCount = (userId: string, since: Date) => sql.fragment`
  SELECT count(*)::int AS count FROM links
  WHERE user_id = ${userId} AND created_at > ${sql.timestamp(since)}
`;
