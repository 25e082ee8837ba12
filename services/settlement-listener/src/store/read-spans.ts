import * as z from "zod";
import { sql } from "slonik";
import { Int8, type Pool, type Transaction, VoidRow, sqlVoid } from "@payment-links/postgres";

const ReadSpan = z.object({ fromBlock: Int8, toBlock: Int8, provider: z.string() });
/** A range of blocks that the scan read from one provider. */
export type ReadSpan = z.output<typeof ReadSpan>;

/**
 * Saves which provider the next blocks were read from. Extends the last span if it has the same
 * provider.
 */
export const saveReadSpan = async (
  tx: Transaction,
  chainId: string,
  { fromBlock, toBlock, provider }: ReadSpan,
): Promise<void> => {
  await tx.query(sql.prepared("save_span", VoidRow)`
    WITH grown AS (
      UPDATE read_spans SET to_block = ${toBlock}
      WHERE chain_id = ${chainId} AND to_block = ${fromBlock - 1} AND provider = ${provider}
      RETURNING 1
    )
    INSERT INTO read_spans (chain_id, from_block, to_block, provider)
    SELECT ${chainId}, ${fromBlock}::bigint, ${toBlock}::bigint, ${provider}
    WHERE NOT EXISTS (SELECT FROM grown)
  `);
};

/** Returns the span that contains a block, or the first one after it. */
export const findReadSpan = async (
  pool: Pool,
  chainId: string,
  block: number,
): Promise<ReadSpan | undefined> =>
  (await pool.maybeOne(sql.type(ReadSpan)`
    SELECT from_block AS "fromBlock", to_block AS "toBlock", provider FROM read_spans
    WHERE chain_id = ${chainId} AND to_block >= ${block}
    ORDER BY from_block LIMIT 1
  `)) ?? undefined;

/** Removes the blocks above `block` from the spans, because they will be read again. */
export const truncateReadSpansAbove = async (
  tx: Transaction,
  chainId: string,
  block: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    DELETE FROM read_spans WHERE chain_id = ${chainId} AND from_block > ${block}
  `);
  await tx.query(sqlVoid`
    UPDATE read_spans SET to_block = ${block} WHERE chain_id = ${chainId} AND to_block > ${block}
  `);
};

/** Deletes the spans that the audit has passed. */
export const deleteReadSpansUpTo = async (
  tx: Transaction,
  chainId: string,
  block: number,
): Promise<void> => {
  await tx.query(sqlVoid`
    DELETE FROM read_spans WHERE chain_id = ${chainId} AND to_block <= ${block}
  `);
};
