import type { Payment } from "./payment.ts";
import { toTransactionKey } from "./same-transfer.ts";

/** A payment, and the owner of its link. */
export type PaymentReport = { userId: string; payment: Payment };

type Transaction = Pick<Payment, "chainId" | "sourceTransaction">;

/**
 * All reported payments, indexed by transaction. Callers add each result while they evaluate a
 * chunk.
 */
export type PaymentReports = {
  /** Lists an owner's payments in the same transaction as another payment. */
  list: (userId: string, transaction: Transaction) => readonly Payment[];
  /** Adds a payment or replaces its previous state. */
  set: (report: PaymentReport) => void;
};

/** Indexes payments by owner and transaction. */
export const createPaymentReports = (initialReports: readonly PaymentReport[]): PaymentReports => {
  const byTransaction = new Map<string, Map<string, Payment>>();
  const reports: PaymentReports = {
    list: (userId, transaction) => [
      ...(byTransaction.get(buildReportKey(userId, transaction))?.values() ?? []),
    ],
    set: ({ userId, payment }) => {
      if (payment.sourceTransaction === null) return;
      const key = buildReportKey(userId, payment);
      const transactionPayments = byTransaction.get(key) ?? new Map<string, Payment>();
      byTransaction.set(key, transactionPayments.set(payment.id, payment));
    },
  };
  for (const report of initialReports) reports.set(report);
  return reports;
};

const buildReportKey = (userId: string, { chainId, sourceTransaction }: Transaction): string =>
  JSON.stringify([
    userId,
    chainId,
    sourceTransaction === null ? null : toTransactionKey(sourceTransaction),
  ]);
