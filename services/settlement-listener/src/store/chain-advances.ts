import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import { getChainSource } from "@payment-links/contracts";

/** Others hear of a chain no more often. */
const advanceIntervalMs = 2_000;

/**
 * Marks that others are told at `now` how far a chain is. False where they were told lately, or no payment
 * waits above the line up to which all payments settle. If they were told lately, `advance_due_at` says when
 * the report is due. Nothing is looked for below the line: what has settled
 * there is still in the index. A time that is to come was written by a clock that was wrong.
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
    RETURNING is_told AS "isTold"
  `);
  return row?.isTold ?? false;
};

const PublishedRow = z.object({ isTold: z.boolean() });
