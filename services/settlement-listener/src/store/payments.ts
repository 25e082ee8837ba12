import * as z from "zod";
import { sql } from "slonik";
import type { OutboxRow } from "@payment-links/bus";
import { Amount, PaymentStatus } from "@payment-links/contracts";
import {
  Int8,
  type Pool,
  type Transaction,
  VoidRow,
  defineTable,
  sqlVoid,
} from "@payment-links/postgres";
import type { Payment, PaymentReport } from "../domain/payment.ts";
import { lockNames, buildNameLock } from "./name-locks.ts";
import { Payer } from "./payer.ts";

const PaymentRow = z.object({
  id: z.string(),
  version: z.int(),
  source: z.string(),
  sourceId: z.string(),
  paymentLinkId: z.string(),
  status: PaymentStatus,
  amount: Amount,
  tokenAddress: z.string(),
  chainId: z.string(),
  destinationAddress: z.string(),
  sourceTransaction: z.string().nullable(),
  occurredAt: z.date(),
  firstSeenAt: z.date(),
  witnessedAt: z
    .date()
    .nullable()
    .transform((time) => time ?? undefined),
  isOrphaned: z.boolean(),
  blockNumber: Int8.nullable(),
  payer: Payer,
});

const LinkIdRow = z.object({ paymentLinkId: z.string() });

/** Identifies a payment permanently. */
export type PaymentIdentity = Pick<PaymentReport, "source" | "sourceId">;

const { columns, names, rows: createRows } = defineTable(PaymentRow);

const updatedColumns = defineTable(
  PaymentRow.omit({
    id: true,
    source: true,
    sourceId: true,
    paymentLinkId: true,
    firstSeenAt: true,
  }),
).assignFrom("excluded");

const paymentRows = (payments: readonly Payment[]) =>
  createRows(payments.map((payment) => ({ ...payment, isOrphaned: payment.isOrphaned ?? false })));

/**
 * Locks a payment, even if it has no row yet, so that only one transaction at a time records a
 * report of it. Take this lock before the link's lock, to prevent deadlocks.
 */
export const lockPayment = (tx: Transaction, identity: PaymentIdentity): Promise<void> =>
  lockNames(tx, "payment", [toLockName(identity)]);

const toLockName = ({ source, sourceId }: PaymentIdentity): string =>
  JSON.stringify([source, sourceId]);

/** Returns the link of a payment, which never changes. Undefined for an unknown payment. */
export const findPaymentLinkId = async (
  tx: Transaction,
  { source, sourceId }: PaymentIdentity,
): Promise<string | undefined> => {
  const row = await tx.maybeOne(sql.type(LinkIdRow)`
    SELECT payment_link_id AS "paymentLinkId" FROM payments
    WHERE source = ${source} AND source_id = ${sourceId}
  `);
  return row?.paymentLinkId;
};

export const findPayment = async (
  tx: Transaction,
  { source, sourceId }: PaymentIdentity,
): Promise<Payment | undefined> =>
  (await tx.maybeOne(sql.type(PaymentRow)`
    SELECT ${columns} FROM payments
    WHERE source = ${source} AND source_id = ${sourceId}
    FOR UPDATE
  `)) ?? undefined;

/**
 * Returns the stored payments of one source by `sourceId`. Locks their rows until the transaction
 * ends.
 */
export const lockPayments = async (
  tx: Transaction,
  source: string,
  sourceIds: readonly string[],
): Promise<ReadonlyMap<string, Payment>> => {
  const rows = await tx.any(sql.type(PaymentRow)`
    SELECT ${columns} FROM payments
    WHERE source = ${source} AND source_id = ANY (${sql.array([...sourceIds], "text")})
    FOR UPDATE
  `);
  return new Map(rows.map((row) => [row.sourceId, row]));
};

/**
 * Saves the current state of payments. Does not change the identity, the link and the first-seen
 * time of existing ones.
 */
export const savePayments = async (
  tx: Transaction,
  payments: readonly Payment[],
): Promise<void> => {
  if (payments.length === 0) return;
  await tx.query(sql.prepared("save_payments", VoidRow)`
    INSERT INTO payments (${names}) ${paymentRows(payments)}
    ON CONFLICT (source, source_id) DO UPDATE SET ${updatedColumns}
  `);
};

/**
 * Marks the processing payments of transactions as seen by a quorum at `now`, unless they are
 * marked already.
 */
export const markConfirmedByQuorum = async (
  tx: Transaction,
  source: string,
  { transactionHashes, now }: { transactionHashes: readonly string[]; now: Date },
): Promise<void> => {
  if (transactionHashes.length === 0) return;
  await tx.query(sqlVoid`
    UPDATE payments SET witnessed_at = ${sql.timestamp(now)}
    WHERE witnessed_at IS NULL AND (source, source_id) IN (
      SELECT source, source_id FROM open_payments
      WHERE source = ${source} AND is_processing
        AND split_part(source_id, ':', 1) = ANY (${sql.array([...transactionHashes], "text")})
    )
  `);
};

/**
 * Adds a payment and its event in one statement, which is its own transaction. Takes the same lock
 * as {@link lockPayment}. If the payment exists or its link is unknown, returns false and adds
 * nothing.
 */
export const insertPublishedPayment = async (
  pool: Pool,
  payment: Payment,
  { id, key, occurredAt, topic, traceparent, type, value }: OutboxRow,
): Promise<boolean> => {
  const rows = await pool.any(sql.prepared("insert_told_payment", AddedRow)`
    WITH locked AS MATERIALIZED (${buildNameLock("payment", toLockName(payment))}), known AS (
      SELECT id FROM links, locked WHERE id = ${payment.paymentLinkId}
    ), added AS (
      INSERT INTO payments (${names})
      SELECT incoming.* FROM (${paymentRows([payment])}) AS incoming, known
      ON CONFLICT DO NOTHING
      RETURNING id
    )
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    SELECT ${id}, ${topic}, ${key}, ${type}, ${occurredAt}::timestamptz, ${traceparent}, ${value}
    FROM added
    RETURNING true AS "isAdded"
  `);
  return rows.length > 0;
};

const AddedRow = z.object({ isAdded: z.literal(true) });

/**
 * Adds payments of one source. Each must occur once. Does not change existing payments, and returns
 * their source ids.
 */
export const insertPayments = async (
  tx: Transaction,
  payments: readonly Payment[],
): Promise<ReadonlySet<string>> => {
  if (payments.length === 0) return new Set();
  const rows = await tx.any(sql.prepared("insert_payments", SourceIdRow)`
    WITH incoming AS (${paymentRows(payments)}), added AS (
      INSERT INTO payments (${names}) SELECT * FROM incoming ON CONFLICT DO NOTHING
      RETURNING source_id
    )
    SELECT source_id AS "sourceId" FROM incoming EXCEPT SELECT source_id FROM added
  `);
  return new Set(rows.map(({ sourceId }) => sourceId));
};

const SourceIdRow = z.object({ sourceId: z.string() });

/**
 * Sets the version of deferred payments of the given links to 1, so that they can be published.
 * Releases up to `countMax` payments, oldest first. The caller must have locked the links, or
 * another transaction could defer a payment afterwards.
 */
export const releaseDeferredPayments = async (
  tx: Transaction,
  linkIds: readonly string[],
  countMax: number,
): Promise<readonly Payment[]> =>
  tx.any(sql.type(PaymentRow)`
    WITH unparked AS (
      UPDATE payments SET version = 1
      WHERE (source, source_id) IN (
        SELECT source, source_id FROM open_payments
        WHERE payment_link_id = ANY (${sql.array([...linkIds], "text")}) AND is_parked
        ORDER BY seq
        LIMIT ${countMax}
      )
      RETURNING *
    )
    SELECT ${columns} FROM unparked ORDER BY seq
  `);

/**
 * Lists the payments that have these sequence numbers and have been published, in the order in
 * which they were stored.
 */
export const listPublishedPayments = (
  tx: Transaction,
  seqs: readonly string[],
): Promise<readonly Payment[]> =>
  tx.any(sql.type(PaymentRow)`
    SELECT ${columns} FROM payments
    WHERE seq = ANY (${sql.array([...seqs], "int8")}) AND version > 0
    ORDER BY seq
  `);

/** Lists up to `countMax` deferred payments that have waited longest. */
export const listDeferredPayments = (pool: Pool, countMax: number): Promise<readonly Payment[]> =>
  pool.any(sql.type(PaymentRow)`
    SELECT ${columns} FROM payments
    WHERE (source, source_id) IN (
      SELECT source, source_id FROM open_payments WHERE is_parked
      ORDER BY first_seen_at, seq LIMIT ${countMax}
    )
    ORDER BY seq
  `);
