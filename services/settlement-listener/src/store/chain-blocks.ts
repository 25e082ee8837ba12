import * as z from "zod";
import { sql } from "slonik";
import {
  Int8,
  type Pool,
  type Transaction,
  VoidRow,
  defineTable,
  sqlVoid,
} from "@payment-links/postgres";

const BlockRow = z.object({
  number: Int8,
  hash: z.string(),
  parentHash: z.string(),
  minedAt: z.date(),
});
/**
 * A scanned block. Later reads compare it with the next block's parent hash and with the blocks
 * that nodes return.
 */
export type ScannedBlock = z.output<typeof BlockRow>;

const blockTable = defineTable(BlockRow);

export const findBlock = async (
  pool: Pool,
  chainId: string,
  number: number,
): Promise<ScannedBlock | undefined> =>
  (await pool.maybeOne(sql.prepared("find_block", BlockRow)`
    SELECT ${blockTable.columns} FROM chain_blocks WHERE chain_id = ${chainId} AND number = ${number}
  `)) ?? undefined;

/** Returns the highest stored block of a chain at or below a number. */
export const findBlockUpTo = async (
  pool: Pool,
  chainId: string,
  number: number,
): Promise<ScannedBlock | undefined> =>
  (await pool.maybeOne(sql.type(BlockRow)`
    SELECT ${blockTable.columns} FROM chain_blocks WHERE chain_id = ${chainId} AND number <= ${number}
    ORDER BY number DESC LIMIT 1
  `)) ?? undefined;

/** Lists the stored blocks of a range in ascending order. Both ends are inclusive. */
export const listBlocks = (
  pool: Pool,
  chainId: string,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<readonly ScannedBlock[]> =>
  pool.any(sql.type(BlockRow)`
    SELECT ${blockTable.columns} FROM chain_blocks
    WHERE chain_id = ${chainId} AND number BETWEEN ${fromBlock} AND ${toBlock}
    ORDER BY number
  `);

export const insertBlocks = async (
  tx: Transaction,
  chainId: string,
  blocks: readonly ScannedBlock[],
): Promise<void> => {
  await tx.query(sql.prepared("insert_blocks", VoidRow)`
    INSERT INTO chain_blocks (chain_id, ${blockTable.names})
    SELECT ${chainId}, block.* FROM (${blockTable.rows(blocks)}) AS block
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
