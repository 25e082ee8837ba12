import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import {
  Amount,
  Decimal,
  ConfirmationsByAmount,
  PaymentStatus,
  unappliedReasons,
} from "@payment-links/contracts";
import { type Db, createUntypedRecordset } from "@payment-links/postgres";
import type { SourceIdPrefix } from "../domain/source-id-prefix.ts";
import { type Confirmations, computeConfirmations } from "../domain/confirmations.ts";
import type { Payment } from "../domain/payment.ts";
import { createBatchLoader } from "./batch-loader.ts";

/**
 * A block number from a `bigint` column, which the database driver returns as text. It is always a
 * safe integer.
 */
export const BlockNumber = z.string().transform(Number).pipe(z.int());

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
  sourceTransaction: z.string().nullable(),
  occurredAt: z.date(),
  firstSeenAt: z.date(),
  appliedAt: z.date().nullable(),
  endedAt: z.date().nullable(),
  orphanedAt: z.date().nullable(),
  returnedAt: z.date().nullable(),
  orphanChangePublishedAt: z.date().nullable(),
  blockNumber: BlockNumber.nullable(),
}) satisfies z.ZodType<Payment>;

/**
 * The columns of a payment. The column `is_orphaned` stays true after the payment has returned to
 * its chain, so the field `isOrphaned` also depends on `returned_at`.
 */
export const paymentColumns = sql.fragment`
  payments.id, payments.link_id AS "linkId", payments.version, payments.source,
  payments.source_id AS "sourceId", payments.status, payments.is_applied AS "isApplied",
  payments.reason, payments.amount,
  payments.is_orphaned AND payments.returned_at IS NULL AS "isOrphaned",
  payments.token_address AS "tokenAddress", payments.chain_id AS "chainId", payments.destination_address AS "destinationAddress",
  payments.source_transaction AS "sourceTransaction", payments.occurred_at AS "occurredAt",
  payments.first_seen_at AS "firstSeenAt", payments.applied_at AS "appliedAt",
  payments.ended_at AS "endedAt", payments.orphaned_at AS "orphanedAt",
  payments.returned_at AS "returnedAt", payments.block_number AS "blockNumber",
  payments.orphan_change_published_at AS "orphanChangePublishedAt",
  payments.duplicate_of AS "duplicateOf"
`;

/** Finds a payment by the id that settlement-listener assigned. */
export const findPayment = async (db: Db, paymentId: string): Promise<Payment | undefined> => {
  const row = await db.maybeOne(sql.prepared("find_payment", PaymentRow)`
    SELECT ${paymentColumns} FROM payments WHERE id = ${paymentId}
  `);
  return row ?? undefined;
};

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

const idRows = createUntypedRecordset(["text"]);

/** Finds payments by their ids. */
export const findPayments = async (
  db: Db,
  paymentIds: readonly string[],
): Promise<Map<string, Payment>> => {
  const ids = idRows(paymentIds.map((id) => [id]));
  const rows = await db.any(sql.prepared("find_payments", PaymentRow)`
    SELECT ${paymentColumns} FROM (${ids}) AS wanted (id) CROSS JOIN LATERAL (
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
  INSERT INTO payments (
    id, link_id, version, source, source_id, status, is_applied, reason, amount, token_address,
    chain_id, destination_address, source_transaction, occurred_at, first_seen_at, applied_at,
    is_orphaned, ended_at, orphaned_at, returned_at, block_number, duplicate_of,
    orphan_change_published_at
  )
  ${paymentRows(payments.map(toPaymentValues))}
  ON CONFLICT (id) DO UPDATE SET
    version = excluded.version, status = excluded.status, is_applied = excluded.is_applied,
    reason = excluded.reason, amount = excluded.amount,
    token_address = excluded.token_address, chain_id = excluded.chain_id,
    destination_address = excluded.destination_address,
    source_transaction = excluded.source_transaction, occurred_at = excluded.occurred_at,
    applied_at = excluded.applied_at, is_orphaned = excluded.is_orphaned,
    ended_at = excluded.ended_at, orphaned_at = excluded.orphaned_at,
    returned_at = excluded.returned_at, block_number = excluded.block_number,
    duplicate_of = excluded.duplicate_of,
    orphan_change_published_at = excluded.orphan_change_published_at
`;

const toPaymentValues = (payment: Payment) => [
  payment.id,
  payment.linkId,
  payment.version,
  payment.source,
  payment.sourceId,
  payment.status,
  payment.isApplied,
  payment.reason,
  payment.amount.toFixed(),
  payment.tokenAddress,
  payment.chainId,
  payment.destinationAddress,
  payment.sourceTransaction,
  payment.occurredAt.toISOString(),
  payment.firstSeenAt.toISOString(),
  payment.appliedAt?.toISOString() ?? null,
  payment.isOrphaned || payment.returnedAt !== null,
  payment.endedAt?.toISOString() ?? null,
  payment.orphanedAt?.toISOString() ?? null,
  payment.returnedAt?.toISOString() ?? null,
  payment.blockNumber,
  payment.duplicateOf,
  payment.orphanChangePublishedAt?.toISOString() ?? null,
];

/** The column types, in the order of {@link toPaymentValues}. */
const paymentRows = createUntypedRecordset(
  (
    "text text int4 text text text bool text numeric text text text text " +
    "timestamptz timestamptz timestamptz bool timestamptz timestamptz timestamptz int8 text timestamptz"
  ).split(" "),
);

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
  headBlock: BlockNumber.nullable(),
  neededBlocks: BlockNumber.nullable(),
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
