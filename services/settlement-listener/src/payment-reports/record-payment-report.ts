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

/** What a source brings with a sighting. */
export type ReportContext = Omit<EvaluationContext, "isLinkKnown">;

/**
 * Records a sighting, the one way in for every source: judges it, and writes the payment's row and,
 * where its link is known, the event, in the caller's transaction. Where the link is not known the
 * payment is parked: stored, and published by {@link publishDeferredPayments} in the transaction that first
 * hears of the link.
 */
export const recordPaymentReport = async (
  tx: Transaction,
  report: PaymentReport,
  context: ReportContext,
): Promise<PaymentReportResult> => {
  await lockPayment(tx, report);
  const linkId = (await findPaymentLinkId(tx, report)) ?? report.paymentLinkId;
  const isLinkKnown = await lockLinkShared(tx, linkId);
  // Read only now: a link that was heard of in between has given the payment its first version.
  const storedPayment = await findPayment(tx, report);
  const result = evaluatePaymentReport(storedPayment, report, { ...context, isLinkKnown });
  if (isPublishable(result)) {
    await savePayments(tx, [result.payment]);
    if (isLinkKnown) await publish(tx, [createSettlementEvent(result.payment, context.now)]);
  }
  return result;
};
