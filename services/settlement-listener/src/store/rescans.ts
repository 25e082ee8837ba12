import * as z from "zod";
import { sql } from "slonik";
import { type Db, Int8, type Transaction, sqlVoid } from "@payment-links/postgres";

const RescanRow = z.object({
  id: z.string(),
  fromBlock: Int8,
  toBlock: Int8,
  nextBlock: Int8,
});
/**
 * A range of blocks to rescan, with its progress. Requested by an operator, or because links
 * arrived late.
 */
type Rescan = z.output<typeof RescanRow>;

/** Stores a rescan for the chain's leader to run. */
export const insertRescan = async (
  db: Db,
  rescan: { chainId: string; fromBlock: number; toBlock: number; requestedAt: Date },
): Promise<void> => {
  const { requestedAt, chainId, fromBlock, toBlock } = rescan;
  await db.query(sqlVoid`
    INSERT INTO rescans (chain_id, from_block, to_block, next_block, asked_at)
    VALUES (${chainId}, ${fromBlock}, ${toBlock}, ${fromBlock}, ${sql.timestamp(requestedAt)})
  `);
};

const ScannedRangeRow = z.object({ fromBlock: Int8, toBlock: Int8 });

/**
 * Returns the range of blocks that were scanned since a time. Returns undefined if the audit cannot
 * have passed any of them yet, or if a pending rescan covers them.
 */
export const findBlocksScannedSince = async (
  tx: Transaction,
  chainId: string,
  since: Date,
): Promise<z.output<typeof ScannedRangeRow> | undefined> =>
  (await tx.maybeOne(sql.type(ScannedRangeRow)`
    SELECT height + 1 AS "fromBlock", scanned_to AS "toBlock"
    FROM watchers CROSS JOIN LATERAL (
      SELECT height FROM scanned_heights
      WHERE scanned_heights.chain_id = watchers.chain_id
        AND scanned_at < ${sql.timestamp(since)}
      ORDER BY height DESC LIMIT 1
    ) AS scanned
    WHERE chain_id = ${chainId} AND height < finalized_to
      AND NOT EXISTS (
        SELECT FROM rescans
        WHERE rescans.chain_id = watchers.chain_id
          AND next_block <= height + 1 AND to_block >= scanned_to
      )
  `)) ?? undefined;

export const countRescans = async (db: Db, chainId: string): Promise<number> => {
  const CountRow = z.object({ count: z.int() });
  const { count } = await db.one(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM rescans WHERE chain_id = ${chainId}
  `);
  return count;
};

/** Deletes a chain's pending rescans. Returns how many there were. */
export const deleteRescans = async (db: Db, chainId: string): Promise<number> => {
  const { rowCount } = await db.query(sqlVoid`DELETE FROM rescans WHERE chain_id = ${chainId}`);
  return rowCount;
};

export const findOldestRescan = async (db: Db, chainId: string): Promise<Rescan | undefined> =>
  (await db.maybeOne(sql.type(RescanRow)`
    SELECT id, from_block AS "fromBlock", to_block AS "toBlock", next_block AS "nextBlock"
    FROM rescans WHERE chain_id = ${chainId}
    ORDER BY rescans.id LIMIT 1
  `)) ?? undefined;

/** Saves the progress of a rescan, or deletes it once it is complete. */
export const saveRescan = async (
  tx: Transaction,
  { id, toBlock }: Rescan,
  scannedTo: number,
): Promise<void> => {
  await tx.query(
    scannedTo >= toBlock
      ? sqlVoid`DELETE FROM rescans WHERE id = ${id}::bigint`
      : sqlVoid`UPDATE rescans SET next_block = ${scannedTo + 1} WHERE id = ${id}::bigint`,
  );
};
