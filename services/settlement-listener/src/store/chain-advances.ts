import * as z from "zod";
import { sql } from "slonik";
import type { Transaction } from "@payment-links/postgres";
import { chainSource } from "@payment-links/contracts";

/** Others hear of a chain no more often. */
const advanceEveryMs = 2_000;

/**
 * Marks that others are told at `now` how far a chain is. False where they were told lately, or no payment
 * waits above the line up to which all payments settle. Nothing is looked for below it: what has settled
 * there is still in the index. A time that is to come was written by a clock that was wrong.
 */
export const markAdvanceTold = async (
  tx: Transaction,
  chainId: string,
  { settledTo, now }: { settledTo: number; now: Date },
): Promise<boolean> => {
  const since = new Date(now.getTime() - advanceEveryMs);
  const row = await tx.maybeOne(sql.prepared("mark_advance_told", Told)`
    UPDATE watchers SET advance_told_at = ${now.toISOString()}::timestamptz
    WHERE chain_id = ${chainId}
      AND (
        advance_told_at IS NULL OR advance_told_at <= ${since.toISOString()}::timestamptz
        OR advance_told_at > ${now.toISOString()}::timestamptz
      )
      AND EXISTS (
        SELECT FROM open_payments
        WHERE source = ${chainSource(chainId)} AND is_processing AND block_number > ${settledTo}
      )
    RETURNING true AS "isTold"
  `);
  return row !== null;
};

const Told = z.object({ isTold: z.literal(true) });
