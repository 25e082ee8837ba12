import type { LatestPublished } from "@payment-links/bus";
import {
  type Db,
  Int8,
  type Transaction,
  createJsonRecordset,
  defineTable,
} from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { Amount, LinkStatus, LinkTexts, type PaymentLinkState } from "@payment-links/contracts";
import type { Link } from "../domain/link.ts";
import { endpointsShareLock } from "./endpoints.ts";

const LinkRow = z.object({
  id: z.string(),
  status: LinkStatus,
  toAmount: Amount,
  receivedAmount: Amount,
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  ...LinkTexts.shape,
  expirationDate: z.date().nullable(),
  chainId: z.string(),
  tokenAddress: z.string(),
});
const linkRow = sql.type(LinkRow);
const { columns: linkColumns } = defineTable(LinkRow);

const StateRow = LinkRow.extend({ version: Int8 });
const { names: stateColumns } = defineTable(StateRow);
const updatedColumns = defineTable(StateRow.omit({ id: true })).assignFrom("excluded");
const publishedRows = createJsonRecordset(
  StateRow.extend({ publishedAt: z.date(), versionsRestartedAt: z.date().nullable() }),
);

const LinkVersionRow = z.object({
  id: z.string(),
  version: Int8,
  publishedAt: z.date().nullable(),
});

/** The version and time of a stored link state. */
export type StoredLinkVersion = z.output<typeof LinkVersionRow>;

/** A link's state with its publish time. */
export type PublishedLink = LatestPublished & { link: PaymentLinkState };

/**
 * Stores each link's state if it is newer than the stored one. Each link must be given once. A
 * state is newer by its version, or if its source republished it much later. A stored state without
 * a time counts as old. Returns the previous versions of the links that were known. Locks the
 * owners' endpoints against changes until the transaction ends.
 */
export const recordLinks = async (
  tx: Transaction,
  links: readonly PublishedLink[],
): Promise<ReadonlyMap<string, StoredLinkVersion>> => {
  // The lookups with a `LIMIT` run once per link, even if the cached plan is based on another table
  // size.
  const rows = links.map(({ link, ...latestPublished }) => ({ ...link, ...latestPublished }));
  const userIds = [...new Set(links.map(({ link }) => link.userId))];
  const storedRows = await tx.any(sql.prepared("record_links", LinkVersionRow)`
    WITH given AS (${publishedRows(rows)}), recorded AS (
      INSERT INTO links (${stateColumns}, told_at)
      SELECT ${stateColumns}, published_at FROM given ORDER BY id
      ON CONFLICT (id) DO UPDATE
      SET ${updatedColumns}, told_at = greatest(links.told_at, excluded.told_at)
      WHERE links.version < excluded.version
        OR coalesce(links.told_at, '-infinity')
          < (SELECT versions_restarted_at FROM given WHERE given.id = excluded.id)
    )
    SELECT known.* FROM (${endpointsShareLock(userIds)}) AS shared CROSS JOIN given CROSS JOIN LATERAL (
      SELECT id, version, told_at AS "publishedAt" FROM links WHERE id = given.id LIMIT 1
    ) AS known
  `);
  return new Map(storedRows.map((row) => [row.id, row]));
};

/** Reads links by their ids. */
export const findLinks = (pool: Db, ids: readonly string[]): Promise<readonly Link[]> =>
  pool.any(linkRow`
    SELECT ${linkColumns} FROM links WHERE id = ANY(${sql.array([...ids], "text")})
  `);
