import { type OwnPaymentData, type PaymentData, formatAmount } from "@payment-links/contracts";
import type { Payment } from "../domain/payment.ts";

/**
 * Serializes the fields of a payment that both the link's owner and the payer are allowed to see.
 */
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
 * Serializes a payment for the link's owner (rule CALLER-7). An orphaned payment has `orphaned:
 * true`. If it had settled, it stays applied, although the owner no longer has the money. Another
 * report of the same transfer has `duplicateOf`.
 */
export const serializePayment = (payment: Payment): PaymentData => ({
  ...serializePublicPayment(payment),
  ...(payment.isOrphaned ? { orphaned: true } : {}),
  ...(payment.duplicateOf === null ? {} : { duplicateOf: payment.duplicateOf }),
});

/** Serializes a payment for lists that span several links. */
export const serializeOwnPayment = (payment: Payment): OwnPaymentData => ({
  ...serializePayment(payment),
  paymentLinkId: payment.linkId,
});
