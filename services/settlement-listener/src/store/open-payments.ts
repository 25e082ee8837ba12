import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, sqlVoid } from "@payment-links/postgres";
import { getChainSource } from "@payment-links/contracts";

const BacklogCount = z.object({ count: z.int(), oldestAt: z.date().nullable() });
/** The number of waiting payments, up to {@link backlogCountMax}, and the time of the oldest. */
export type BacklogCount = z.output<typeof BacklogCount>;

/** The backlog: payments deferred for an unknown link, and payments that are not final. */
export type Backlog = { deferred: BacklogCount; processing: BacklogCount };

/** Counting stops here, because an operator needs no larger number. */
export const backlogCountMax = 1_000;

/**
 * Reads the backlog. If a previous backlog is given, searches for the oldest payment from shortly
 * before the previous oldest one. This skips dead index entries of payments that have ended since.
 * Counts the newest payments first.
 */
export const readBacklog = async (pool: Pool, previousBacklog?: Backlog): Promise<Backlog> => ({
  deferred: await readBacklogCount(pool, sql.fragment`is_parked`, previousBacklog?.deferred),
  processing: await readBacklogCount(
    pool,
    sql.fragment`is_processing`,
    previousBacklog?.processing,
  ),
});

/** The clocks of processes differ, and a transaction takes time. */
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
 * Removes the block from a chain's payments that are not final, after another chain replaced it.
 * Nothing on the new chain settles them.
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
