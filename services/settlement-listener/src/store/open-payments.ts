import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";
import { chainSource } from "../domain/chain-transfer.ts";

const Backlog = z.object({
  parkedCount: z.int(),
  oldestParkedAt: z.date().nullable(),
  processingCount: z.int(),
  oldestProcessingAt: z.date().nullable(),
});
export type Backlog = z.output<typeof Backlog>;

/** Counts what waits: payments parked for a link not heard of, and payments not yet final. */
export const readBacklog = (pool: Pool): Promise<Backlog> =>
  pool.one(sql.type(Backlog)`
    SELECT
      (SELECT count(*)::int FROM open_payments WHERE is_parked) AS "parkedCount",
      (SELECT first_seen_at FROM open_payments WHERE is_parked ORDER BY seq LIMIT 1)
        AS "oldestParkedAt",
      (SELECT count(*)::int FROM open_payments WHERE is_processing) AS "processingCount",
      (SELECT min(first_seen_at) FROM open_payments WHERE is_processing) AS "oldestProcessingAt"
  `);

/**
 * Says of a chain's payments that are not final that they stand in no block: the chain is another
 * one by now, and nothing of it settles them.
 */
export const displacePayments = async (tx: Transaction, chainId: string): Promise<void> => {
  await tx.query(nothing`
    UPDATE payments SET block_number = NULL
    WHERE (source, source_id) IN (
      SELECT source, source_id FROM open_payments
      WHERE source = ${chainSource(chainId)} AND is_processing AND block_number IS NOT NULL
    )
  `);
};
