import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, VoidRow, sqlVoid } from "@payment-links/postgres";
import { BlockNumber } from "./block-number.ts";

const BlockRow = z.object({
  number: BlockNumber,
  hash: z.string(),
  parentHash: z.string(),
  minedAt: z.date(),
});
/**
 * A scanned block. Later reads compare it with the next block's parent hash and with the blocks
 * that nodes return.
 */
export type ScannedBlock = z.output<typeof BlockRow>;

const columns = sql.fragment`number, hash, parent_hash AS "parentHash", mined_at AS "minedAt"`;

export const findBlock = async (
  pool: Pool,
  chainId: string,
  number: number,
): Promise<ScannedBlock | undefined> => {
  const row = await pool.maybeOne(sql.prepared("find_block", BlockRow)`
    SELECT ${columns} FROM chain_blocks WHERE chain_id = ${chainId} AND number = ${number}
  `);
  return row ?? undefined;
};

/** Returns the highest stored block of a chain at or below a number. */
export const findBlockUpTo = async (
  pool: Pool,
  chainId: string,
  number: number,
): Promise<ScannedBlock | undefined> => {
  const row = await pool.maybeOne(sql.type(BlockRow)`
    SELECT ${columns} FROM chain_blocks WHERE chain_id = ${chainId} AND number <= ${number}
    ORDER BY number DESC LIMIT 1
  `);
  return row ?? undefined;
};

/** Lists the stored blocks of a range in ascending order. Both ends are inclusive. */
export const listBlocks = (
  pool: Pool,
  chainId: string,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<readonly ScannedBlock[]> =>
  pool.any(sql.type(BlockRow)`
    SELECT ${columns} FROM chain_blocks
    WHERE chain_id = ${chainId} AND number BETWEEN ${fromBlock} AND ${toBlock}
    ORDER BY number
  `);

export const insertBlocks = async (
  tx: Transaction,
  chainId: string,
  blocks: readonly ScannedBlock[],
): Promise<void> => {
  const rows = blocks.map((block) => [
    block.number,
    block.hash,
    block.parentHash,
    block.minedAt.toISOString(),
  ]);
  await tx.query(sql.prepared("insert_blocks", VoidRow)`
    INSERT INTO chain_blocks (chain_id, number, hash, parent_hash, mined_at)
    SELECT ${chainId}, block.*
    FROM ${sql.unnest(rows, ["int8", "text", "text", "timestamptz"])}
      AS block (number, hash, parent_hash, mined_at)
  `);
};

/** Deletes the blocks that a reorg orphaned. */
export const deleteBlocksAbove = async (
  tx: Transaction,
  chainId: string,
  number: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    DELETE FROM chain_blocks WHERE chain_id = ${chainId} AND number > ${number}
  `);
};

/**
 * Deletes the blocks below the final block. The final block itself is kept, to compare later reads
 * with it.
 */
export const deleteBlocksBelow = async (
  tx: Transaction,
  chainId: string,
  number: number,
): Promise<void> => {
  await tx.query(sql.prepared("delete_blocks_below", VoidRow)`
    DELETE FROM chain_blocks WHERE chain_id = ${chainId} AND number < ${number}
  `);
};
