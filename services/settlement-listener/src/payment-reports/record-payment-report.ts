import { publish } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import {
  type EvaluationContext,
  type PaymentReportResult,
  type PaymentReport,
  isPublishable,
  evaluatePaymentReport,
} from "../domain/payment.ts";
import { lockLinkShared } from "../store/links.ts";
import { findPayment, findPaymentLinkId, lockPayment, savePayments } from "../store/payments.ts";
import { createSettlementEvent } from "./create-settlement-event.ts";

/** What the caller provides along with a report. */
export type ReportContext = Omit<EvaluationContext, "isLinkKnown">;

/**
 * Records a payment report in the caller's transaction. Evaluates the report, writes the payment's
 * row and, if the link is known, the event. If the link is unknown, the payment is deferred: {@link
 * publishDeferredPayments} publishes it in the transaction that first receives the link.
 */
export const recordPaymentReport = async (
  tx: Transaction,
  report: PaymentReport,
  context: ReportContext,
): Promise<PaymentReportResult> => {
  await lockPayment(tx, report);
  const linkId = (await findPaymentLinkId(tx, report)) ?? report.paymentLinkId;
  const isLinkKnown = await lockLinkShared(tx, linkId);
  // The payment is read after its link is locked: if the link arrived in the meantime, the payment
  // now has version 1.
  const storedPayment = await findPayment(tx, report);
  const result = evaluatePaymentReport(storedPayment, report, { ...context, isLinkKnown });
  if (isPublishable(result)) {
    await savePayments(tx, [result.payment]);
    if (isLinkKnown) await publish(tx, [createSettlementEvent(result.payment, context.now)]);
  }
  return result;
};
