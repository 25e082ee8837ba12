import { sql } from "slonik";
import * as z from "zod";
import type { Pool } from "@payment-links/postgres";

const NewsRow = z.object({ addresses: z.array(z.string()), until: z.string() });

/**
 * The addresses of owners on a chain that were added since a place, and the place up to which that is
 * so: everything that is committed later is at or behind it.
 */
export const listOwnerAddresses = (
  pool: Pool,
  chainId: string,
  since: string,
): Promise<{ addresses: readonly string[]; until: string }> =>
  pool.one(sql.type(NewsRow)`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS until,
      ARRAY(
        SELECT address FROM owner_addresses
        WHERE chain_id = ${chainId} AND added_by >= ${since}::xid8
      ) AS addresses
  `);
