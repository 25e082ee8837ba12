import { type CheckoutTransaction, buildTransactionPageUrl } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { serializePublicPayment } from "./serialize-payment.ts";

/**
 * Serializes a payment for its payer. Apart from the public transaction hash, the response does not
 * contain anything about the payer.
 */
export const serializeCheckoutTransaction = (
  dependencies: Dependencies,
  payment: Payment,
): CheckoutTransaction => ({
  ...serializePublicPayment(payment),
  paymentLinkId: payment.linkId,
  transactionUrl: payment.isApplied
    ? buildTransactionPageUrl(dependencies.checkoutUrl, payment.id)
    : null,
});
