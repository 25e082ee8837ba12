import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";

const NewsRow = z.object({ addresses: z.array(z.string()), until: z.string() });
const AddressRow = z.object({ address: z.string() });

/**
 * The addresses of owners on a chain that were added since a place, all of them since 0, and the place up
 * to which that is so: everything that is committed later is at or behind it. What a dump brought was
 * added by transactions of another cluster, to whose numbers this one may not have come: it is there
 * from the first look on, and no news.
 */
export const listOwnerAddresses = (
  pool: Pool,
  chainId: string,
  since: string,
): Promise<{ addresses: readonly string[]; until: string }> => {
  const isOfThisCluster = sql.fragment`added_by < pg_snapshot_xmax(pg_current_snapshot())`;
  return pool.one(sql.type(NewsRow)`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS until,
      ARRAY(
        SELECT address FROM owner_addresses
        WHERE chain_id = ${chainId} AND added_by >= ${since}::xid8
          AND ${since === "0" ? sql.fragment`true` : isOfThisCluster}
      ) AS addresses
  `);
};

/** The addresses of owners on a chain, those first whose links were heard of last. */
export const listByHearing = async (pool: Pool, chainId: string): Promise<readonly string[]> => {
  const rows = await pool.any(sql.type(AddressRow)`
    SELECT address FROM owner_addresses WHERE chain_id = ${chainId}
    ORDER BY heard_at DESC, address
  `);
  return rows.map(({ address }) => address);
};

/**
 * Saves when links were heard of, by whom they pay. It comes before the links themselves, as whose
 * address is new is added with its first link.
 */
export const saveHearing = async (
  tx: Transaction,
  links: readonly Pick<PaymentLinkState, "chainId" | "destinationAddress">[],
  now: Date,
): Promise<void> => {
  const names = links.map(({ chainId, destinationAddress }) => `${chainId} ${destinationAddress}`);
  if (names.length === 0) return;
  // In one order, so that two transactions never wait for one another.
  const rows = [...new Set(names)].sort().map((name) => name.split(" "));
  await tx.query(nothing`
    INSERT INTO owner_addresses AS kept (chain_id, address, heard_at)
    SELECT owner.*, ${sql.timestamp(now)}
    FROM ${sql.unnest(rows, ["text", "text"])} AS owner (chain_id, address)
    ON CONFLICT (chain_id, address) DO UPDATE SET heard_at = excluded.heard_at
    WHERE kept.heard_at < excluded.heard_at
  `);
};
