import * as z from "zod";
import { sql } from "slonik";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";

const Owner = z.object({ address: z.string() });

/** The addresses that links of a chain pay to, those first whose links were heard of last. */
export const listOwners = async (pool: Pool, chainId: string): Promise<readonly string[]> => {
  const rows = await pool.any(sql.type(Owner)`
    SELECT address FROM chain_owners WHERE chain_id = ${chainId}
    ORDER BY heard_at DESC, address
  `);
  return rows.map(({ address }) => address);
};

/**
 * Saves whom links pay to, on chains that are read by the owners' accounts. EVM chains, whose ids are
 * decimal, are read by their contracts.
 */
export const saveOwners = async (
  tx: Transaction,
  links: readonly Pick<PaymentLinkState, "chainId" | "destinationAddress">[],
  now: Date,
): Promise<void> => {
  const names = links
    .filter(({ chainId }) => !/^\d/.test(chainId))
    .map(({ chainId, destinationAddress }) => `${chainId} ${destinationAddress}`);
  if (names.length === 0) return;
  // In one order, so that two transactions never wait for one another.
  const rows = [...new Set(names)].sort().map((name) => name.split(" "));
  await tx.query(nothing`
    INSERT INTO chain_owners AS kept (chain_id, address, heard_at)
    SELECT owner.*, ${sql.timestamp(now)}
    FROM ${sql.unnest(rows, ["text", "text"])} AS owner (chain_id, address)
    ON CONFLICT (chain_id, address) DO UPDATE SET heard_at = excluded.heard_at
    WHERE kept.heard_at < excluded.heard_at
  `);
};
