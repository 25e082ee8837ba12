import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import { getChainSource } from "@payment-links/contracts";

const BacklogCount = z.object({ count: z.int(), oldestAt: z.date().nullable() });
/** How many payments wait, counted up to {@link backlogCountMax}, and since when the oldest does. */
export type BacklogCount = z.output<typeof BacklogCount>;

/** What waits: payments parked for a link not heard of, and payments not yet final. */
export type Backlog = { deferred: BacklogCount; processing: BacklogCount };

/** More than that is not counted: who reads it knows enough. */
export const backlogCountMax = 1_000;

/**
 * Reads what waits. Where the oldest was known to be before, nothing is looked for long before that:
 * what has ended since is still there for whoever walks over it. The newest are counted first.
 */
export const readBacklog = async (pool: Pool, previousBacklog?: Backlog): Promise<Backlog> => ({
  deferred: await readBacklogCount(pool, sql.fragment`is_parked`, previousBacklog?.deferred),
  processing: await readBacklogCount(
    pool,
    sql.fragment`is_processing`,
    previousBacklog?.processing,
  ),
});

/** The clocks of processes differ, and a transaction takes its time. */
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
 * Says of a chain's payments that are not final that they stand in no block: the chain is another
 * one by now, and nothing of it settles them.
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
