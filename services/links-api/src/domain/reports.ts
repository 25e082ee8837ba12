import type { Payment } from "./payment.ts";
import { transactionKey } from "./same-transfer.ts";

/** A payment with the owner of its link. */
export type OwnReport = { userId: string; payment: Payment };

type Transaction = Pick<Payment, "chainId" | "sourceTransaction">;

/** The payments that were reported of transactions, as they stand while more of them are judged. */
export type Reports = {
  /** Lists an owner's payments in the transaction of another payment. */
  list: (userId: string, transaction: Transaction) => readonly Payment[];
  /** Adds a payment, or replaces what was known of it. */
  set: (report: OwnReport) => void;
};

/** Indexes payments by their owner and their transaction. */
export const createReports = (known: readonly OwnReport[]): Reports => {
  const byTransaction = new Map<string, Map<string, Payment>>();
  const reports: Reports = {
    list: (userId, transaction) => [
      ...(byTransaction.get(keyOf(userId, transaction))?.values() ?? []),
    ],
    set: ({ userId, payment }) => {
      if (payment.sourceTransaction === null) return;
      const key = keyOf(userId, payment);
      const ofTransaction = byTransaction.get(key) ?? new Map<string, Payment>();
      byTransaction.set(key, ofTransaction.set(payment.id, payment));
    },
  };
  for (const report of known) reports.set(report);
  return reports;
};

const keyOf = (userId: string, { chainId, sourceTransaction }: Transaction): string =>
  JSON.stringify([
    userId,
    chainId,
    sourceTransaction === null ? null : transactionKey(sourceTransaction),
  ]);
