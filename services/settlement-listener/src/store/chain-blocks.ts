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
 * A scanned block: what the next one's parent hash, and the node's own answers, are held against.
 */
export type ScannedBlock = z.output<typeof BlockRow>;

const columns = sql.fragment`number, hash, parent_hash AS "parentHash", mined_at AS "minedAt"`;

/** A block of a chain, where it is stored. */
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

/** The highest stored block of a chain that is at most a number. */
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

/** The stored blocks of a range, both ends included, in order. */
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

/** Stores blocks that were scanned. */
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

/** Deletes the blocks that a reorg took away. */
export const deleteBlocksAbove = async (
  tx: Transaction,
  chainId: string,
  number: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    DELETE FROM chain_blocks WHERE chain_id = ${chainId} AND number > ${number}
  `);
};

/** Deletes the blocks below the last final one, which itself stays as the anchor. */
export const deleteBlocksBelow = async (
  tx: Transaction,
  chainId: string,
  number: number,
): Promise<void> => {
  await tx.query(sql.prepared("delete_blocks_below", VoidRow)`
    DELETE FROM chain_blocks WHERE chain_id = ${chainId} AND number < ${number}
  `);
};
