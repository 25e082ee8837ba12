import { type CheckoutTransaction, transactionPageUrl } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";
import { showPaymentToAll } from "./show-payment.ts";

/** Shows a payment to its payer. It tells nothing of them but the transaction's public hash. */
export const showCheckoutTransaction = (deps: Deps, payment: Payment): CheckoutTransaction => ({
  ...showPaymentToAll(payment),
  paymentLinkId: payment.linkId,
  transactionUrl: payment.isApplied ? transactionPageUrl(deps.checkoutUrl, payment.id) : null,
});
