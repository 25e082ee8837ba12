import * as z from "zod";
import { sql } from "slonik";
import { type Pool, type Transaction, nothing } from "@payment-links/postgres";
import { chainSource } from "@payment-links/contracts";

const Waiting = z.object({ count: z.int(), oldestAt: z.date().nullable() });
/** How many payments wait, counted up to {@link waitingCountMax}, and since when the oldest does. */
export type Waiting = z.output<typeof Waiting>;

/** What waits: payments parked for a link not heard of, and payments not yet final. */
export type Backlog = { parked: Waiting; processing: Waiting };

/** More than that is not counted: who reads it knows enough. */
export const waitingCountMax = 1_000;

/**
 * Reads what waits. Where the oldest was known to be before, nothing is looked for long before that:
 * what has ended since is still there for whoever walks over it. The newest are counted first.
 */
export const readBacklog = async (pool: Pool, before?: Backlog): Promise<Backlog> => ({
  parked: await readWaiting(pool, sql.fragment`is_parked`, before?.parked),
  processing: await readWaiting(pool, sql.fragment`is_processing`, before?.processing),
});

/** The clocks of processes differ, and a transaction takes its time. */
const marginMs = 10 * 60_000;

const readWaiting = (
  pool: Pool,
  isWaiting: ReturnType<typeof sql.fragment>,
  before: Waiting | undefined,
): Promise<Waiting> => {
  const since = new Date((before?.oldestAt?.getTime() ?? marginMs) - marginMs);
  return pool.one(sql.type(Waiting)`
    SELECT
      (SELECT count(*)::int FROM (
        SELECT FROM open_payments WHERE ${isWaiting}
        ORDER BY first_seen_at DESC LIMIT ${waitingCountMax}
      ) AS newest) AS count,
      (SELECT first_seen_at FROM open_payments
       WHERE ${isWaiting} AND first_seen_at >= ${sql.timestamp(since)}
       ORDER BY first_seen_at LIMIT 1) AS "oldestAt"
  `);
};

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
