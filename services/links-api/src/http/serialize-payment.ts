import { type OwnPaymentData, type PaymentData, formatAmount } from "@payment-links/contracts";
import type { Payment } from "../domain/payment.ts";

/** What both its link's owner and its payer are shown of a payment. */
export const serializePublicPayment = (
  payment: Payment,
): Omit<PaymentData, "orphaned" | "duplicateOf"> => ({
  id: payment.id,
  status: payment.status,
  applied: payment.isApplied,
  reason: payment.reason,
  amount: formatAmount(payment.amount),
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  sourceTransaction: payment.sourceTransaction,
  dateCreated: payment.firstSeenAt.toISOString(),
});

/**
 * Shows a payment to the link's owner (rule CALLER-7). One that its chain took away has a further field,
 * `orphaned: true`: if it had settled it still counts, but the money is not there. A further report of one
 * transfer has `duplicateOf`.
 */
export const serializePayment = (payment: Payment): PaymentData => ({
  ...serializePublicPayment(payment),
  ...(payment.isOrphaned ? { orphaned: true } : {}),
  ...(payment.duplicateOf === null ? {} : { duplicateOf: payment.duplicateOf }),
});

/** Shows a payment beside payments on other links. */
export const serializeOwnPayment = (payment: Payment): OwnPaymentData => ({
  ...serializePayment(payment),
  paymentLinkId: payment.linkId,
});
