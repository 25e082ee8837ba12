import { LRUCache } from "lru-cache";
import { sql } from "slonik";
import * as z from "zod";
import type { Db } from "@payment-links/postgres";
import type { LinkView } from "../domain/link-view.ts";
import { type LinkFilter, type LinkSortKey, listLinks, buildStartCondition } from "./link-views.ts";

/** Lists a page of one owner's links of a mode at any offset. */
export type ListLinks = (db: Db, filter: LinkFilter) => Promise<readonly LinkView[]>;

/** A link in an owner's list that serves as the starting point for later pages. */
type Anchor = LinkSortKey & {
  /**
   * The number of links before the anchor that were created until `settledUntil`. It never changes.
   */
  depth: number;
  settledUntil: Date;
};

/** The start of a page: an anchor, and the number of links to skip after it. */
type PageStart = { anchor: Anchor; skippedCount: number };

/** The smallest offset for which anchors are used. */
const deepOffsetMin = 10_000;

/**
 * The maximum number of anchors. One per account and mode is enough, because an account can read
 * only one deep page at a time.
 */
const anchorsMax = 1_000;

/**
 * The age after which the order of links no longer changes. A link can be stored a few seconds
 * after its creation time, and that time can come from another process's clock. Until then, links
 * can still be inserted between existing ones.
 */
const settlingMs = 5 * 60_000;

/**
 * The age at which an anchor expires, because all links that were created since then are counted
 * for each page.
 */
const anchorMsMax = 60 * 60_000;

/**
 * The number of links between an anchor and its page. With this distance, the anchor can also be
 * used for slightly earlier pages and after new links are created.
 */
const anchorLeadCount = 1_000;

/**
 * Creates the function that lists links. Without anchors, a deep page would skip all links before
 * it. Anchors work because links are never deleted and new links come first, so the offset of a
 * known link only grows by the number of newer links. Lists of one status do not use anchors,
 * because a link can enter them at any position.
 */
export const createListLinks = (): ListLinks => {
  const anchors = new LRUCache<string, Anchor>({ max: anchorsMax });
  return async (db, filter) => {
    const { mode, offset, status, userId } = filter;
    const anchorKey = `${userId} ${mode}`;
    if (status !== null || offset < deepOffsetMin) return listLinks(db, filter);
    const pageStart =
      (await findFromAnchor(db, anchors.get(anchorKey), filter)) ?? (await findFromTop(db, filter));
    if (pageStart === "unsettled") return listLinks(db, filter);
    if (pageStart === "beyond") return [];
    anchors.set(anchorKey, pageStart.anchor);
    return listLinks(db, { ...filter, startKey: pageStart.anchor, offset: pageStart.skippedCount });
  };
};

const CountRow = z.object({ count: z.int() });

/**
 * Finds a page from a known anchor. If the page is far from it, also finds a nearer anchor. Returns
 * undefined if there is no anchor, if it has expired, or if the page is before it.
 */
const findFromAnchor = async (
  db: Db,
  anchor: Anchor | undefined,
  { mode, now, offset, userId }: LinkFilter,
): Promise<PageStart | "beyond" | undefined> => {
  if (anchor === undefined) return undefined;
  const { depth, settledUntil } = anchor;
  if (now.getTime() - settledUntil.getTime() > anchorMsMax) return undefined;
  const newerCount = await db.oneFirst(
    sql.type(CountRow)`${selectNewerCount({ userId, mode }, settledUntil)}`,
  );
  const skippedCount = offset - newerCount - depth;
  if (skippedCount < 0) return undefined;
  if (skippedCount <= 2 * anchorLeadCount) return { anchor, skippedCount };
  const stepCount = skippedCount - anchorLeadCount;
  const sortKey = await db.maybeOne(sql.type(SortKeyRow)`
    SELECT ${sortKeyColumns} FROM ${selectLinkAt({ userId, mode, startKey: anchor, offset: stepCount })}
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
 * Finds a page without an anchor. The new anchor and the number of links before it come from the
 * same snapshot.
 */
const findFromTop = async (
  db: Db,
  { mode, now, offset, userId }: LinkFilter,
): Promise<PageStart | "beyond" | "unsettled"> => {
  const settledUntil = new Date(now.getTime() - settlingMs);
  const anchorOffset = offset - anchorLeadCount;
  const row = await db.maybeOne(sql.type(AnchorRow)`
    SELECT ${sortKeyColumns}, created_at <= ${sql.timestamp(settledUntil)} AS "isSettled",
      (${selectNewerCount({ userId, mode }, settledUntil)}) AS "newerCount"
    FROM ${selectLinkAt({ userId, mode, offset: anchorOffset })}
  `);
  if (row === null) return "beyond";
  const { isSettled, newerCount, ...sortKey } = row;
  if (!isSettled) return "unsettled";
  const anchor = { ...sortKey, depth: anchorOffset - newerCount, settledUntil };
  return { anchor, skippedCount: anchorLeadCount };
};

const sortKeyColumns = sql.fragment`created_at::text AS "createdAt", seq::text AS seq`;

/**
 * Selects the link at an offset after another link, or after the newest one. Reads only the index.
 */
const selectLinkAt = ({
  userId,
  mode,
  startKey,
  offset,
}: Pick<LinkFilter, "userId" | "mode" | "startKey" | "offset">) =>
  sql.fragment`(
    SELECT created_at, seq FROM links
    WHERE user_id = ${userId} AND mode = ${mode} ${buildStartCondition(startKey)}
    ORDER BY created_at DESC, seq DESC LIMIT 1 OFFSET ${offset}
  ) AS link`;

const selectNewerCount = (
  { mode, userId }: Pick<LinkFilter, "userId" | "mode">,
  since: Date,
) => sql.fragment`
  SELECT count(*)::int AS count FROM links
  WHERE user_id = ${userId} AND mode = ${mode} AND created_at > ${sql.timestamp(since)}
`;
