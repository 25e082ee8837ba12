import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import { getChainSource } from "@payment-links/chains";

const BacklogCount = z.object({ count: z.int(), oldestAt: z.date().nullable() });
/**
 * The number of pending payments, up to {@link backlogCountMax}, and the time of the oldest one.
 */
export type BacklogCount = z.output<typeof BacklogCount>;

/**
 * The backlog: payments that are deferred for an unknown link, and payments that are still
 * processing.
 */
export type Backlog = { deferred: BacklogCount; processing: BacklogCount };

/** Counting stops at this number. An operator needs no larger one. */
export const backlogCountMax = 1_000;

/**
 * Reads the backlog. The search for the oldest payment starts a little before the oldest one of the
 * previous backlog, if given. This skips dead index entries of payments that are final by then.
 * Counting starts with the newest payments for the same reason.
 */
export const readBacklog = async (pool: Pool, previousBacklog?: Backlog): Promise<Backlog> => ({
  deferred: await readBacklogCount(pool, sql.fragment`is_parked`, previousBacklog?.deferred),
  processing: await readBacklogCount(
    pool,
    sql.fragment`is_processing`,
    previousBacklog?.processing,
  ),
});

/** Covers differences between the clocks of processes, and the duration of a transaction. */
const clockSkewMarginMs = 10 * 60_000;

const readBacklogCount = (
  pool: Pool,
  condition: ReturnType<typeof sql.fragment>,
  previousCount: BacklogCount | undefined,
): Promise<BacklogCount> => {
  const since = new Date(
    (previousCount?.oldestAt?.getTime() ?? clockSkewMarginMs) - clockSkewMarginMs,
  );
  return pool.one(sql.type(BacklogCount)`
    SELECT
      (SELECT count(*)::int FROM (
        SELECT FROM open_payments WHERE ${condition}
        ORDER BY first_seen_at DESC LIMIT ${backlogCountMax}
      ) AS newest) AS count,
      (SELECT first_seen_at FROM open_payments
       WHERE ${condition} AND first_seen_at >= ${sql.timestamp(since)}
       ORDER BY first_seen_at LIMIT 1) AS "oldestAt"
  `);
};

/**
 * Sets the block of a chain's processing payments to null after a disposable chain was restarted.
 * They will not settle on the new chain.
 */
export const clearPaymentBlocks = async (tx: Transaction, chainId: string): Promise<void> => {
  await tx.query(sqlVoid`
    UPDATE payments SET block_number = NULL
    WHERE (source, source_id) IN (
      SELECT source, source_id FROM open_payments
      WHERE source = ${getChainSource(chainId)} AND is_processing AND block_number IS NOT NULL
    )
  `);
};
