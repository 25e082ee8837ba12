import { type CheckoutTransaction, buildTransactionPageUrl } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { serializePublicPayment } from "./serialize-payment.ts";

/** Shows a payment to its payer. It tells nothing of them but the transaction's public hash. */
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
