import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import { getChainSource } from "@payment-links/chains";

/** The minimum time between two reports of one chain's progress. */
const advanceIntervalMs = 2_000;

/**
 * Records that a chain's progress is published at `now`. Returns false, without recording it, if
 * - the last report is less than `advanceIntervalMs` old: `advance_due_at` then contains the time
 *   of the next one, or
 * - no processing payment is in a block above `settledTo`. Lower blocks are not searched, because
 *   the index still contains entries of settled payments there.
 * If the last report is in the future, it came from a wrong clock and is ignored.
 */
export const markAdvancePublished = async (
  tx: Transaction,
  chainId: string,
  { settledTo, now }: { settledTo: number; now: Date },
): Promise<boolean> => {
  const since = new Date(now.getTime() - advanceIntervalMs);
  const row = await tx.maybeOne(sql.prepared("mark_advance_told", PublishedRow)`
    WITH waiting AS (
      SELECT EXISTS (
        SELECT FROM open_payments
        WHERE source = ${getChainSource(chainId)} AND is_processing AND block_number > ${settledTo}
      ) AS is_any
    ), mark AS (
      SELECT is_any, is_any AND (
        advance_told_at IS NULL OR advance_told_at <= ${since.toISOString()}::timestamptz
        OR advance_told_at > ${now.toISOString()}::timestamptz
      ) AS is_told
      FROM watchers, waiting WHERE chain_id = ${chainId}
    )
    UPDATE watchers SET
      advance_told_at = CASE WHEN is_told THEN ${now.toISOString()}::timestamptz ELSE advance_told_at END,
      advance_due_at = CASE
        WHEN is_any AND NOT is_told THEN advance_told_at + ${advanceIntervalMs}::int * interval '1 millisecond'
      END
    FROM mark
    WHERE chain_id = ${chainId} AND (is_any OR advance_due_at IS NOT NULL)
    RETURNING is_told AS "isPublished"
  `);
  return row?.isPublished ?? false;
};

const PublishedRow = z.object({ isPublished: z.boolean() });
