import * as z from "zod";
import { sql } from "slonik";
import { needsAddressPerLink } from "@payment-links/chains";
import { type Db, Int8, type Transaction, sqlVoid } from "@payment-links/postgres";

const ScannedHeightRow = z.object({ height: Int8, scannedAt: z.date() });

/**
 * Stores when a chain with an address per link was scanned up to a height. Deletes the entries of
 * greater heights, whose blocks will be scanned again. Other chains do not need these times, because
 * their payments identify the link.
 */
export const saveScannedHeight = async (
  tx: Transaction,
  chainId: string,
  { height, now }: { height: number; now: Date },
): Promise<void> => {
  if (!needsAddressPerLink(chainId)) return;
  await deleteScannedHeightsAbove(tx, chainId, height);
  await tx.query(sqlVoid`
    INSERT INTO scanned_heights (chain_id, height, scanned_at)
    VALUES (${chainId}, ${height}, ${sql.timestamp(now)})
    ON CONFLICT DO NOTHING
  `);
};

/** Deletes the entries above a height, because its blocks will be scanned again. */
export const deleteScannedHeightsAbove = async (
  tx: Transaction,
  chainId: string,
  height: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    DELETE FROM scanned_heights WHERE chain_id = ${chainId} AND height > ${height}
  `);
};

/**
 * Returns the time at which each block was scanned, by block number. Leaves out blocks that have
 * not been scanned.
 */
export const readScannedAt = async (
  db: Db,
  chainId: string,
  blockNumbers: readonly number[],
): Promise<ReadonlyMap<number, Date>> => {
  const rows = await db.any(sql.type(ScannedHeightRow)`
    SELECT asked.height, scanned.scanned_at AS "scannedAt"
    FROM ${sql.unnest(
      [...new Set(blockNumbers)].map((number) => [number]),
      ["int8"],
    )} AS asked (height)
    CROSS JOIN LATERAL (
      SELECT scanned_at FROM scanned_heights
      WHERE chain_id = ${chainId} AND scanned_heights.height >= asked.height
      ORDER BY scanned_heights.height LIMIT 1
    ) AS scanned
  `);
  return new Map(rows.map(({ height, scannedAt }) => [height, scannedAt]));
};
