import {
  type CheckoutTransaction,
  formatAmount,
  transactionPageUrl,
} from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";

/** Shows a payment to its payer. It tells nothing of them but the transaction's public hash. */
export const showCheckoutTransaction = (deps: Deps, payment: Payment): CheckoutTransaction => ({
  id: payment.id,
  paymentLinkId: payment.linkId,
  status: payment.status,
  applied: payment.isApplied,
  reason: payment.reason,
  amount: formatAmount(payment.amount),
  tokenAddress: payment.tokenAddress,
  chainId: payment.chainId,
  sourceTransaction: payment.sourceTransaction,
  dateCreated: payment.firstSeenAt.toISOString(),
  transactionUrl: payment.isApplied ? transactionPageUrl(deps.checkoutUrl, payment.id) : null,
});
