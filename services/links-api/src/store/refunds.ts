import { sql } from "slonik";
import * as z from "zod";
import { Amount } from "@payment-links/contracts";
import { type Db, type Transaction, defineTable } from "@payment-links/postgres";
import type { Refund } from "../domain/refund.ts";

const RefundRow = z.object({
  id: z.string(),
  linkId: z.string(),
  paymentId: z.string(),
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  transactionId: z.string(),
  recordedAt: z.date(),
}) satisfies z.ZodType<Refund>;

const { columns, names, rows } = defineTable(RefundRow);

/**
 * Stores a refund unless its transaction is already recorded for the payment. Returns the stored
 * refund and whether it is new.
 */
export const insertRefund = async (
  tx: Transaction,
  refund: Refund,
): Promise<{ refund: Refund; isNew: boolean }> => {
  const { rowCount } = await tx.query(sql.type(RefundRow)`
    INSERT INTO refunds (${names}) ${rows([refund])}
    ON CONFLICT (payment_id, transaction_id) DO NOTHING
  `);
  if (rowCount === 1) return { refund, isNew: true };
  const storedRefund = await tx.one(sql.type(RefundRow)`
    SELECT ${columns} FROM refunds
    WHERE payment_id = ${refund.paymentId} AND transaction_id = ${refund.transactionId}
  `);
  return { refund: storedRefund, isNew: false };
};

/** Lists the newest refunds of a link. */
export const listRefunds = (
  db: Db,
  { linkId, limit }: { linkId: string; limit: number },
): Promise<readonly Refund[]> =>
  db.any(sql.type(RefundRow)`
    SELECT ${columns} FROM refunds WHERE link_id = ${linkId}
    ORDER BY recorded_at DESC, id DESC LIMIT ${limit}
  `);

/** Finds refunds by their ids. */
export const findRefunds = async (
  db: Db,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, Refund>> => {
  if (refundIds.length === 0) return new Map();
  const refunds = await db.any(sql.type(RefundRow)`
    SELECT ${columns} FROM refunds WHERE id = ANY (${sql.array([...refundIds], "text")})
  `);
  return new Map(refunds.map((refund) => [refund.id, refund]));
};
