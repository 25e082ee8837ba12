import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import {
  Amount,
  Decimal,
  ConfirmationsByAmount,
  PaymentStatus,
  unappliedReasons,
} from "@payment-links/contracts";
import { type Db, Int8, createJsonRecordset, defineTable } from "@payment-links/postgres";
import type { SourceIdPrefix } from "../domain/source-id-prefix.ts";
import { type Confirmations, computeConfirmations } from "../domain/confirmations.ts";
import type { Payment } from "../domain/payment.ts";
import { createBatchLoader } from "./batch-loader.ts";

/** A row of {@link paymentColumns}. */
export const PaymentRow = z.object({
  id: z.string(),
  linkId: z.string(),
  version: z.int(),
  source: z.string(),
  sourceId: z.string(),
  status: PaymentStatus,
  isApplied: z.boolean(),
  reason: z.enum(unappliedReasons).nullable(),
  duplicateOf: z.string().nullable(),
  isOrphaned: z.boolean(),
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  payer: z.string().nullable(),
  sourceTransaction: z.string().nullable(),
  occurredAt: z.date(),
  firstSeenAt: z.date(),
  appliedAt: z.date().nullable(),
  unappliedAt: z.date().nullable(),
  endedAt: z.date().nullable(),
  orphanedAt: z.date().nullable(),
  returnedAt: z.date().nullable(),
  orphanChangePublishedAt: z.date().nullable(),
  blockNumber: Int8.nullable(),
}) satisfies z.ZodType<Payment>;

/**
 * The columns of a payment. The column `is_orphaned` stays true after the payment has returned to
 * its chain, so the field `isOrphaned` also depends on `returned_at`.
 */
const paymentTable = defineTable(PaymentRow, {
  from: "payments",
  expressions: {
    isOrphaned: sql.fragment`payments.is_orphaned AND payments.returned_at IS NULL`,
  },
});
export const paymentColumns = paymentTable.columns;

/** Finds a payment by the id that settlement-listener assigned. */
export const findPayment = async (db: Db, paymentId: string): Promise<Payment | undefined> =>
  (await db.maybeOne(sql.prepared("find_payment", PaymentRow)`
    SELECT ${paymentColumns} FROM payments WHERE id = ${paymentId}
  `)) ?? undefined;

/** Finds the first payment that a transaction makes on a link. */
export const findPaymentBySourceIdPrefix = async (
  db: Db,
  { prefix, source }: SourceIdPrefix,
): Promise<Payment | undefined> => {
  const prefixFragments = {
    prefix: sql.fragment`${prefix}::text`,
    source: sql.fragment`${source}`,
  };
  const row = await db.maybeOne(sql.prepared("find_named_payment", PaymentRow)`
    SELECT ${paymentColumns} FROM payments ${selectFirstWithPrefix(prefixFragments)}
  `);
  return row ?? undefined;
};

/**
 * Selects the first payment whose source id consists of a prefix and a number. The unique index on
 * source ids contains these payments as one range, and only its first entry is read. This works in
 * every collation: texts with the same prefix are ordered by what follows it, digits have the same
 * order in all collations, and ten nines come after every number.
 */
export const selectFirstWithPrefix = ({
  prefix,
  source,
}: Record<keyof SourceIdPrefix, FragmentSqlToken>) =>
  sql.fragment`
    WHERE payments.source = ${source} AND payments.source_id > ${prefix}
    AND payments.source_id <= ${prefix} || '9999999999'
    AND starts_with(payments.source_id, ${prefix})
    ORDER BY payments.source_id LIMIT 1
  `;

const idRows = createJsonRecordset(PaymentRow.pick({ id: true }));

/** Finds payments by their ids. */
export const findPayments = async (
  db: Db,
  paymentIds: readonly string[],
): Promise<Map<string, Payment>> => {
  const ids = idRows(paymentIds.map((id) => ({ id })));
  const rows = await db.any(sql.prepared("find_payments", PaymentRow)`
    SELECT ${paymentColumns} FROM (${ids}) AS wanted CROSS JOIN LATERAL (
      SELECT * FROM payments WHERE id = wanted.id LIMIT 1
    ) AS payments
  `);
  return new Map(rows.map((row) => [row.id, row]));
};

/**
 * Builds the `INSERT` that stores the new states of payments. Each payment must be given only once,
 * and its link must be locked by this transaction. Throws if another payment has the same source
 * and source id, which must never happen.
 */
export const buildPaymentsUpsert = (payments: readonly Payment[]) => sql.fragment`
  INSERT INTO payments (${paymentTable.names}) ${paymentTable.rows(payments.map(toStoredPayment))}
  ON CONFLICT (id) DO UPDATE SET ${updatedColumns}
`;

const updatedColumns = defineTable(
  PaymentRow.omit({ id: true, linkId: true, source: true, sourceId: true, firstSeenAt: true }),
).assignFrom("excluded");

const toStoredPayment = (payment: Payment): Payment => ({
  ...payment,
  isOrphaned: payment.isOrphaned || payment.returnedAt !== null,
});

/** Lists a page of one link's payments, newest first. */
export const listPayments = async (
  db: Db,
  { linkId, offset, limit }: { linkId: string; offset: number; limit: number },
): Promise<readonly Payment[]> =>
  db.any(sql.type(PaymentRow)`
    SELECT ${paymentColumns} FROM payments WHERE link_id = ${linkId}
    ORDER BY first_seen_at DESC, id DESC
    LIMIT ${limit} OFFSET ${offset}
  `);

/** The maximum number of pending payments that the checkout returns. */
export const pendingPaymentsMax = 10;

/**
 * Builds the condition for pending payments of `link`. A pending payment was seen but has not settled
 * or failed, is not orphaned, and can still be applied.
 * - A payment in another token or to another address is not pending, because it would keep others
 *   from paying (rule CHAIN-10). Anyone who knows the link's payment reference can make such a
 *   payment.
 * - A provider's notice is pending even then, because it can still change (rule NOTICE-4). It is
 *   omitted if settlement-listener's own watch reports the same transfer.
 *
 * Addresses are compared in lower case. This is safe, because on every chain it is infeasible to
 * find two addresses that differ only in case.
 */
export const buildPendingCondition = (link: FragmentSqlToken): FragmentSqlToken => sql.fragment`
  payments.link_id = ${link}.id AND payments.status = 'processing'
  AND (NOT payments.is_orphaned OR payments.returned_at IS NOT NULL)
  AND (payments.source LIKE 'provider:%' OR payments.chain_id = ${link}.chain_id
    AND lower(payments.token_address) = lower(${link}.token_address)
    AND lower(payments.destination_address) = lower(${link}.destination_address))
  AND (payments.source NOT LIKE 'provider:%' OR NOT EXISTS (
    SELECT FROM payments AS found
    WHERE found.chain_id = payments.chain_id AND found.source_transaction IS NOT NULL
      AND transaction_key(found.source_transaction) = transaction_key(payments.source_transaction)
      AND found.link_id = payments.link_id AND found.amount = payments.amount
      AND found.source NOT LIKE 'provider:%' AND found.status <> 'failed'
  ))
`;

/** A payment that was seen but has not settled, with its confirmations. */
export type PendingPayment = Payment & { confirmations: Confirmations | null };

const PendingRow = PaymentRow.extend({
  headBlock: Int8.nullable(),
  neededBlocks: Int8.nullable(),
  neededByAmount: ConfirmationsByAmount.nullable(),
}).transform(({ headBlock, neededBlocks, neededByAmount, ...payment }): PendingPayment => ({
  ...payment,
  confirmations: computeConfirmations({ ...payment, headBlock, neededBlocks, neededByAmount }),
}));

/** Lists the newest pending payments of a link ({@link buildPendingCondition}). */
export type ListPendingPayments = (linkId: string) => Promise<readonly PendingPayment[]>;

/**
 * Creates a loader for the current pending payments, which combines the requests of one turn of the
 * event loop.
 */
export const createPendingPaymentsLoader = (db: Db): ListPendingPayments => {
  const loadPendingPayments = createBatchLoader(async (linkIds) => {
    const payments = await db.any(sql.prepared("list_pending_payments", PendingRow)`
      SELECT ${paymentColumns}, chain_advances.head_block AS "headBlock",
        chain_advances.needed_blocks AS "neededBlocks",
        chain_advances.needed_by_amount AS "neededByAmount"
      FROM unnest(${sql.array([...linkIds], "text")}) AS wanted (link_id)
      CROSS JOIN LATERAL (
        SELECT * FROM links WHERE links.id = wanted.link_id LIMIT 1
      ) AS link
      CROSS JOIN LATERAL (
        SELECT * FROM payments WHERE ${buildPendingCondition(sql.fragment`link`)}
        ORDER BY payments.first_seen_at DESC, payments.id DESC
        LIMIT ${pendingPaymentsMax}
      ) AS payments
      LEFT JOIN chain_advances ON chain_advances.chain_id = payments.chain_id
      ORDER BY payments.first_seen_at DESC, payments.id DESC
    `);
    return Map.groupBy(payments, ({ linkId }) => linkId);
  });
  return async (linkId) => (await loadPendingPayments(linkId)) ?? [];
};

/** Returns the sum of all pending payments of a link. */
export const sumPendingPayments = async (db: Db, linkId: string): Promise<Decimal> => {
  const { sum } = await db.one(sql.prepared("sum_pending_payments", SumRow)`
    SELECT coalesce(sum(payments.amount), 0) AS sum
    FROM links AS link JOIN payments ON ${buildPendingCondition(sql.fragment`link`)}
    WHERE link.id = ${linkId}
  `);
  return sum;
};

const SumRow = z.object({ sum: z.string().transform((text) => new Decimal(text)) });

/** Finds a payment that was applied to its link. */
export const findAppliedPayment = async (
  db: Db,
  paymentId: string,
): Promise<Payment | undefined> => {
  const payment = await findPayment(db, paymentId);
  return payment?.isApplied === true ? payment : undefined;
};
