import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";

const NewAddressesRow = z.object({ addresses: z.array(z.string()), until: z.string() });
const RankedRow = z.object({ address: z.string(), isProven: z.boolean() });

/** An owner's address, and whether a payment has ever settled there. */
type RankedOwner = z.infer<typeof RankedRow>;

/**
 * Lists owner addresses that were added since a transaction id; 0 lists all. `until` is the id for
 * the next call: every transaction that commits later has at least that id. A restored dump
 * contains transaction ids of another cluster, which can be higher than this cluster's. Only a call
 * with 0 returns such rows.
 */
export const listOwnerAddresses = (
  pool: Pool,
  chainId: string,
  since: string,
): Promise<{ addresses: readonly string[]; until: string }> => {
  const addedByThisCluster = sql.fragment`added_by < pg_snapshot_xmax(pg_current_snapshot())`;
  return pool.one(sql.type(NewAddressesRow)`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS until,
      ARRAY(
        SELECT address FROM owner_addresses
        WHERE chain_id = ${chainId} AND added_by >= ${since}::xid8
          AND ${since === "0" ? sql.fragment`true` : addedByThisCluster}
      ) AS addresses
  `);
};

/**
 * Lists the addresses of owners on a chain. The first address of every account comes before any
 * account's second one, so an account with many addresses does not delay others. Otherwise
 * addresses with the most recent links come first.
 */
export const listByLatestLink = (pool: Pool, chainId: string): Promise<readonly RankedOwner[]> =>
  pool.any(sql.type(RankedRow)`
    SELECT address, paid_at IS NOT NULL AS "isProven" FROM owner_addresses
    WHERE chain_id = ${chainId}
    ORDER BY
      row_number() OVER (
        PARTITION BY coalesce(user_id, address), paid_at IS NOT NULL ORDER BY heard_at DESC, address
      ),
      heard_at DESC, address
  `);

/**
 * Records that payments have settled at addresses. From then on, new links of other users no longer
 * delay the polls of these addresses.
 */
export const markOwnersPaid = async (
  tx: Transaction,
  chainId: string,
  addresses: readonly string[],
  now: Date,
): Promise<void> => {
  if (addresses.length === 0) return;
  await tx.query(sqlVoid`
    UPDATE owner_addresses SET paid_at = ${sql.timestamp(now)}
    WHERE chain_id = ${chainId} AND paid_at IS NULL
      AND address = ANY (${sql.array([...new Set(addresses)].sort(), "text")})
  `);
};

/**
 * Saves when each address last got a link, and the user of the address. Call this before the links
 * are saved, because a trigger adds the addresses of new links without a user.
 */
export const saveLinkOwners = async (
  tx: Transaction,
  links: readonly Pick<PaymentLinkState, "chainId" | "destinationAddress" | "userId">[],
  now: Date,
): Promise<void> => {
  const userIdByAddress = new Map(
    links.map((link) => [`${link.chainId} ${link.destinationAddress}`, link.userId]),
  );
  if (userIdByAddress.size === 0) return;
  // Sorted to prevent deadlocks between concurrent transactions.
  const addressKeys = [...userIdByAddress.keys()].sort();
  const rows = addressKeys.map((addressKey) => [
    ...addressKey.split(" "),
    userIdByAddress.get(addressKey) ?? "",
  ]);
  await tx.query(sqlVoid`
    INSERT INTO owner_addresses AS kept (chain_id, address, user_id, heard_at)
    SELECT owner.*, ${sql.timestamp(now)}
    FROM ${sql.unnest(rows, ["text", "text", "text"])} AS owner (chain_id, address, user_id)
    ON CONFLICT (chain_id, address) DO UPDATE SET
      heard_at = excluded.heard_at, user_id = coalesce(kept.user_id, excluded.user_id)
    WHERE kept.heard_at < excluded.heard_at OR kept.user_id IS NULL
  `);
};

/** Stores addresses to watch on a chain. Ignores addresses that are already stored. */
export const insertOwnerAddresses = async (
  tx: Transaction,
  chainId: string,
  addresses: readonly string[],
): Promise<void> => {
  // Sorted to prevent deadlocks between concurrent transactions.
  await tx.query(sqlVoid`
    INSERT INTO owner_addresses (chain_id, address)
    SELECT ${chainId}, address FROM ${sql.unnest(
      addresses.toSorted().map((address) => [address]),
      ["text"],
    )} AS reserved (address)
    ON CONFLICT DO NOTHING
  `);
};
