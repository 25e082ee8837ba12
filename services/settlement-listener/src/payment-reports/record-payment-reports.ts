import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type OutboxRow, toOutboxRow, insertOutboxRows } from "@payment-links/bus";
import { needsAddressPerLink } from "@payment-links/chains";
import type { Transaction } from "@payment-links/postgres";
import {
  type PaymentReportResult,
  type Payment,
  type PaymentReport,
  isPublishable,
  evaluatePaymentReport,
} from "../domain/payment.ts";
import { insertPayments, lockPayments, savePayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/**
 * Records reports of many payments of one source, like `recordPaymentReport` but in a few
 * statements. The links must be known, and each payment must occur once. The caller must prevent
 * concurrent recording by locking the chain's leadership or the payments' references. Skips
 * payments that were orphaned before their first report, because they were never published.
 */
export const recordPaymentReports = async (
  tx: Transaction,
  reports: readonly PaymentReport[],
  now: Date,
): Promise<readonly PaymentReportResult[]> => {
  const [firstReport] = reports;
  if (firstReport === undefined) return [];
  const sourceIds = reports.map(({ sourceId }) => sourceId);
  const results = evaluateReports(
    reports,
    await lockPayments(tx, firstReport.source, sourceIds),
    now,
  );
  const publishedPayments = listPublishablePayments(results);
  const placedPayments = results.flatMap((result) =>
    result.outcome === "placed" ? [result.payment] : [],
  );
  const [rows] = await Promise.all([
    createOutboxRows(publishedPayments, now),
    savePayments(tx, [...publishedPayments, ...placedPayments]),
  ]);
  await insertOutboxRows(tx, rows);
  return results;
};

/**
 * Records reports like {@link recordPaymentReports}, but for new transfers. Their payments are
 * usually new too, so this inserts them without a lookup.
 */
export const recordNewPaymentReports = async (
  tx: Transaction,
  reports: readonly PaymentReport[],
  now: Date,
): Promise<void> => {
  const publishedPayments = listPublishablePayments(evaluateReports(reports, new Map(), now));
  const [rows, knownSourceIds] = await Promise.all([
    createOutboxRows(publishedPayments, now),
    insertPayments(tx, publishedPayments),
  ]);
  const isKnown = ({ sourceId }: Pick<PaymentReport, "sourceId">) => knownSourceIds.has(sourceId);
  const addedRows = publishedPayments.flatMap((payment, index) =>
    isKnown(payment) ? [] : (rows[index] ?? []),
  );
  await insertOutboxRows(tx, addedRows);
  await recordPaymentReports(tx, reports.filter(isKnown), now);
};

const evaluateReports = (
  reports: readonly PaymentReport[],
  knownPayments: ReadonlyMap<string, Payment>,
  now: Date,
): readonly PaymentReportResult[] =>
  reports.flatMap((report) => {
    const storedPayment = knownPayments.get(report.sourceId);
    if (storedPayment === undefined && report.isOrphaned === true) return [];
    const shouldPublishBlockChanges = needsAddressPerLink(report.chainId);
    const evaluationContext = {
      now,
      isLinkKnown: true,
      tokenDecimals: undefined,
      shouldPublishBlockChanges,
    };
    return evaluatePaymentReport(storedPayment, report, evaluationContext);
  });

const listPublishablePayments = (results: readonly PaymentReportResult[]): readonly Payment[] =>
  results.filter(isPublishable).map(({ payment }) => payment);

/**
 * Creates the events after yielding, so that Postgres is already working on the statements that
 * were sent.
 */
const createOutboxRows = async (
  payments: readonly Payment[],
  now: Date,
): Promise<readonly OutboxRow[]> => {
  await yieldToEventLoop();
  return payments.map((payment) => toOutboxRow(createSettlementEvent(payment, now)));
};
