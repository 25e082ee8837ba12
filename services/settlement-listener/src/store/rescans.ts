import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import { BlockNumber } from "./block-number.ts";

const RescanRow = z.object({
  id: z.string(),
  fromBlock: BlockNumber,
  toBlock: BlockNumber,
  nextBlock: BlockNumber,
});
/** A range that an operator has asked to be read again, and how far that has come. */
type Rescan = z.output<typeof RescanRow>;

/** Stores an operator's wish until the chain's leader has fulfilled it. */
export const insertRescan = async (
  db: Db,
  rescan: { chainId: string; fromBlock: number; toBlock: number; askedAt: Date },
): Promise<void> => {
  const { askedAt, chainId, fromBlock, toBlock } = rescan;
  await db.query(nothing`
    INSERT INTO rescans (chain_id, from_block, to_block, next_block, asked_at)
    VALUES (${chainId}, ${fromBlock}, ${toBlock}, ${fromBlock}, ${sql.timestamp(askedAt)})
  `);
};

/** How many rescans of a chain are not done yet. */
export const countRescans = async (db: Db, chainId: string): Promise<number> => {
  const Row = z.object({ count: z.int() });
  const { count } = await db.one(sql.type(Row)`
    SELECT count(*)::int AS count FROM rescans WHERE chain_id = ${chainId}
  `);
  return count;
};

/** Gives up the rescans of a chain that are not done; answers how many there were. */
export const deleteRescans = async (db: Db, chainId: string): Promise<number> => {
  const { rowCount } = await db.query(nothing`DELETE FROM rescans WHERE chain_id = ${chainId}`);
  return rowCount;
};

/** The oldest rescan of a chain that is not done. */
export const findRescan = async (db: Db, chainId: string): Promise<Rescan | undefined> => {
  const row = await db.maybeOne(sql.type(RescanRow)`
    SELECT id, from_block AS "fromBlock", to_block AS "toBlock", next_block AS "nextBlock"
    FROM rescans WHERE chain_id = ${chainId}
    ORDER BY rescans.id LIMIT 1
  `);
  return row ?? undefined;
};

/** Saves how far a rescan has come, and deletes it once it is done. */
export const saveRescan = async (
  tx: Transaction,
  { id, toBlock }: Rescan,
  scannedTo: number,
): Promise<void> => {
  await tx.query(
    scannedTo >= toBlock
      ? nothing`DELETE FROM rescans WHERE id = ${id}::bigint`
      : nothing`UPDATE rescans SET next_block = ${scannedTo + 1} WHERE id = ${id}::bigint`,
  );
};
