import { sql } from "slonik";
import type { Db } from "@payment-links/postgres";
import type { LinkView } from "../domain/link-view.ts";
import { buildStatusCondition, isUnmarkedExpired } from "./link-search.ts";
import { type LinkFilter, ViewRow, linkViewColumns } from "./link-views.ts";

/**
 * Which changes a consumer has to read again (rule API-44). A change becomes visible a few seconds
 * after its time, when its transaction commits, and that time can come from another process's
 * clock.
 */
export const updateOverlapMs = 5 * 60_000;

export type UpdatedLinksFilter = Omit<LinkFilter, "startKey"> & { updatedAfter: Date };

/**
 * Lists a page of the links that changed at or after an instant, the latest change first. A change
 * then moves links only to later pages, so reading all pages misses no link that did not change
 * meanwhile. An expired link that is not marked yet counts as changed when it expired.
 */
export const listUpdatedLinks = (
  db: Db,
  { limit, mode, now, offset, status, updatedAfter, userId }: UpdatedLinksFilter,
): Promise<readonly LinkView[]> => {
  const since = sql.timestamp(updatedAfter);
  const isOfStatus =
    status === null ? sql.fragment`` : sql.fragment`AND ${buildStatusCondition(status, now)}`;
  const isOwn = sql.fragment`
    user_id = ${userId} AND mode = ${mode} ${isOfStatus}
  `;
  const isExpiredSinceUpdate = sql.fragment`
    ${isUnmarkedExpired(now)} AND expires_at > updated_at
  `;
  const end = offset + limit;
  return db.any(sql.type(ViewRow)`
    WITH page AS MATERIALIZED (
      SELECT id, seq, changed_at FROM (
        (
          SELECT id, seq, updated_at AS changed_at FROM links
          WHERE ${isOwn} AND updated_at >= ${since} AND (${isExpiredSinceUpdate}) IS NOT TRUE
          ORDER BY updated_at DESC, seq DESC LIMIT ${end}
        )
        UNION ALL
        (
          SELECT id, seq, expires_at FROM links
          WHERE ${isOwn} AND expires_at >= ${since} AND ${isExpiredSinceUpdate}
          ORDER BY expires_at DESC, seq DESC LIMIT ${end}
        )
      ) AS changes
      ORDER BY changed_at DESC, seq DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT ${linkViewColumns} FROM page JOIN links ON links.id = page.id
    ORDER BY page.changed_at DESC, page.seq DESC
  `);
};
