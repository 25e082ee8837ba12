import { sql } from "slonik";
import * as z from "zod";
import { type Db, type Transaction, createJsonRecordset } from "@payment-links/postgres";
import type { Payment } from "../domain/payment.ts";
import { type PaymentReport, isProviderNotice, toTransactionKey } from "../domain/same-transfer.ts";
import { PaymentRow, paymentColumns } from "./payments.ts";

type ReportedTransaction = Pick<Payment, "chainId" | "source" | "sourceTransaction">;

const ReportRow = PaymentRow.extend({ userId: z.string() }).transform(
  ({ userId, ...payment }): PaymentReport => ({ userId, payment }),
);

const LockedRow = z.object({ isLocked: z.literal(true) });

/**
 * The number of locks. Transactions share them by the hash of their name, because Postgres has
 * limited space for locks.
 */
const lockCount = 256;

/** An upper limit that is higher than the number of payments in any transaction. */
const reportsMax = 10_000;

const lockRows = createJsonRecordset(z.object({ name: z.string(), isExclusive: z.boolean() }));
const keyRows = createJsonRecordset(z.object({ chainId: z.string(), key: z.string() }));

/**
 * Locks the transactions in which payments were made until the database transaction ends. Lists all
 * payments that were reported in them, for any owner. The locks ensure that two reports of one
 * transfer are evaluated one after the other, even if they are for different links. Reports that
 * are not from a provider take a shared lock, because they never duplicate each other. The caller
 * must have locked its links first, and all locks are taken in a fixed order.
 */
export const lockReports = async (
  tx: Transaction,
  reports: readonly ReportedTransaction[],
): Promise<readonly PaymentReport[]> => {
  const keys = reports.flatMap(({ chainId, source, sourceTransaction }) =>
    sourceTransaction === null
      ? []
      : [
          {
            chainId,
            key: toTransactionKey(sourceTransaction),
            isExclusive: isProviderNotice(source),
          },
        ],
  );
  if (keys.length === 0) return [];
  const locks = keys.map(({ chainId, isExclusive, key }) => ({
    name: `${chainId} ${key}`,
    isExclusive,
  }));
  await tx.query(sql.prepared("lock_reports", LockedRow)`
    SELECT CASE WHEN lock.is_exclusive
      THEN pg_advisory_xact_lock(hashtext('links-api reports'), lock.number)::text
      ELSE pg_advisory_xact_lock_shared(hashtext('links-api reports'), lock.number)::text
    END IS NOT NULL AS "isLocked"
    FROM (
      SELECT abs(hashtext(name) % ${lockCount}::int4) AS number, bool_or(is_exclusive) AS is_exclusive
      FROM (${lockRows(locks)}) AS named GROUP BY number ORDER BY number
    ) AS lock
  `);
  return listReports(tx, reports);
};

/**
 * Lists all payments that were reported in the same transactions as the given ones, for any owner.
 */
export const listReports = async (
  db: Db,
  reports: readonly Pick<Payment, "chainId" | "sourceTransaction">[],
): Promise<readonly PaymentReport[]> => {
  const keysByName = new Map(
    reports.flatMap(({ chainId, sourceTransaction }) => {
      if (sourceTransaction === null) return [];
      const key = toTransactionKey(sourceTransaction);
      return [[`${chainId} ${key}`, { chainId, key }]];
    }),
  );
  if (keysByName.size === 0) return [];
  return db.any(sql.prepared("list_reports", ReportRow)`
    SELECT ${paymentColumns}, owned.user_id AS "userId"
    FROM (${keyRows([...keysByName.values()])}) AS wanted
    CROSS JOIN LATERAL (
      SELECT * FROM payments
      WHERE chain_id = wanted.chain_id AND source_transaction IS NOT NULL
        AND transaction_key(source_transaction) = wanted.key
      LIMIT ${reportsMax}
    ) AS payments
    CROSS JOIN LATERAL (
      SELECT user_id FROM links WHERE links.id = payments.link_id LIMIT 1
    ) AS owned
  `);
};
