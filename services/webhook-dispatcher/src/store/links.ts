import type { LatestPublished } from "@payment-links/bus";
import { type Db, type Transaction, createUntypedRecordset } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import {
  Decimal,
  LinkStatus,
  LinkTexts,
  type PaymentLinkState,
  formatAmount,
} from "@payment-links/contracts";
import type { Link } from "../domain/link.ts";
import { endpointsShareLock } from "./endpoints.ts";

const DecimalText = z.string().transform((text) => new Decimal(text));

const LinkRow = z.object({
  id: z.string(),
  status: LinkStatus,
  toAmount: DecimalText,
  receivedAmount: DecimalText,
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  ...LinkTexts.shape,
  expirationDate: z.date().nullable(),
  chainId: z.string(),
  tokenAddress: z.string(),
});
const linkRow = sql.type(LinkRow);
const LinkVersionRow = z.object({
  id: z.string(),
  version: z.coerce.number(),
  publishedAt: z.date().nullable(),
});

/** The version and time of a stored link state. */
export type StoredLinkVersion = z.output<typeof LinkVersionRow>;

/** A link's state with its publish time. */
export type PublishedLink = LatestPublished & { link: PaymentLinkState };

const linkRows = createUntypedRecordset([
  "text",
  "int8",
  "text",
  "numeric",
  "numeric",
  "int4",
  "int4",
  "text",
  "timestamptz",
  "text",
  "text",
  "timestamptz",
  "timestamptz",
]);

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
  const rows = links.map(({ link, publishedAt, versionsRestartedAt }) => [
    link.id,
    link.version,
    link.status,
    formatAmount(link.toAmount),
    formatAmount(link.receivedAmount),
    link.currentUsage,
    link.maxUsage,
    link.description,
    link.expirationDate?.toISOString() ?? null,
    link.chainId,
    link.tokenAddress,
    publishedAt.toISOString(),
    versionsRestartedAt?.toISOString() ?? null,
  ]);
  const userIds = [...new Set(links.map(({ link }) => link.userId))];
  const storedRows = await tx.any(sql.prepared("record_links", LinkVersionRow)`
    WITH given AS (
      SELECT * FROM (${linkRows(rows)}) AS link
        (id, version, status, to_amount, received_amount, current_usage, max_usage, description,
         expiration_date, chain_id, token_address, told_at, anew_from)
    ), recorded AS (
      INSERT INTO links
        (id, version, status, to_amount, received_amount, current_usage, max_usage, description,
         expiration_date, chain_id, token_address, told_at)
      SELECT id, version, status, to_amount, received_amount, current_usage, max_usage, description,
             expiration_date, chain_id, token_address, told_at
      FROM given ORDER BY id
      ON CONFLICT (id) DO UPDATE
      SET version = excluded.version, status = excluded.status, to_amount = excluded.to_amount,
          received_amount = excluded.received_amount, current_usage = excluded.current_usage,
          max_usage = excluded.max_usage, description = excluded.description,
          expiration_date = excluded.expiration_date, chain_id = excluded.chain_id,
          token_address = excluded.token_address,
          told_at = greatest(links.told_at, excluded.told_at)
      WHERE links.version < excluded.version
        OR coalesce(links.told_at, '-infinity')
          < (SELECT anew_from FROM given WHERE given.id = excluded.id)
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
    SELECT id, status, to_amount AS "toAmount", received_amount AS "receivedAmount",
           current_usage AS "currentUsage", max_usage AS "maxUsage", description,
           expiration_date AS "expirationDate", chain_id AS "chainId",
           token_address AS "tokenAddress"
    FROM links WHERE id = ANY(${sql.array([...ids], "text")})
  `);
