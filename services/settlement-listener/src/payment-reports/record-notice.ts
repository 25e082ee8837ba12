import { toOutboxRow } from "@payment-links/bus";
import { Id } from "@payment-links/contracts";
import { type Pool, transact } from "@payment-links/postgres";
import {
  type PaymentReportResult,
  type PaymentReport,
  isPublishable,
  evaluatePaymentReport,
} from "../domain/payment.ts";
import { insertPublishedPayment } from "../store/payments.ts";
import { type ReportContext, recordPaymentReport } from "./record-payment-report.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/**
 * Records a report in its own transaction. Most reports are the first one of their payment and have
 * a known link. For these, one statement replaces the eight of {@link recordPaymentReport}.
 */
export const recordNotice = async (
  pool: Pool,
  report: PaymentReport,
  context: ReportContext,
): Promise<PaymentReportResult> =>
  (await recordFirstReport(pool, report, context)) ??
  transact(pool, (tx) => recordPaymentReport(tx, report, context));

const recordFirstReport = async (
  pool: Pool,
  report: PaymentReport,
  context: ReportContext,
): Promise<PaymentReportResult | undefined> => {
  // The id is not a valid link id, so the general path stores the payment as deferred.
  if (!Id.safeParse(report.paymentLinkId).success) return undefined;
  const result = evaluatePaymentReport(undefined, report, { ...context, isLinkKnown: true });
  if (!isPublishable(result)) return undefined;
  const { payment } = result;
  const event = toOutboxRow(createSettlementEvent(payment, context.now));
  return (await insertPublishedPayment(pool, payment, event)) ? result : undefined;
};
