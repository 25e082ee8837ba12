import { buildExplorerUrl } from "@payment-links/chains";
import {
  type OwnPaymentData,
  type PaymentData,
  formatAmount,
  serializeToken,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { depositSource } from "../domain/deposit.ts";
import { type Payment, isObserved, isSimulated } from "../domain/payment.ts";

/**
 * Serializes the fields of a payment that both the link's owner and the payer are allowed to see.
 */
export const serializePublicPayment = (
  payment: Payment,
): Omit<
  PaymentData,
  "orphaned" | "simulated" | "duplicateOf" | "sender" | "token" | "transactionUrl"
> => ({
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
export const serializePayment = (dependencies: Dependencies, payment: Payment): PaymentData => ({
  ...serializePublicPayment(payment),
  sender: payment.payer,
  ...serializeWrongToken(dependencies, payment),
  transactionUrl: findTransactionUrl(dependencies, payment),
  ...(payment.isOrphaned ? { orphaned: true } : {}),
  ...(isSimulated(payment) ? { simulated: true } : {}),
  ...(payment.duplicateOf === null ? {} : { duplicateOf: payment.duplicateOf }),
});

/** Serializes the token of a payment if it is not the link's token. */
const serializeWrongToken = (
  { catalogue, checkoutUrl }: Dependencies,
  { chainId, reason, tokenAddress }: Payment,
): Pick<PaymentData, "token"> => {
  if (reason !== "wrong_token") return {};
  const token = catalogue.findTokenByAddress(chainId, tokenAddress);
  return token === undefined ? {} : { token: serializeToken(token, checkoutUrl) };
};

/** Serializes a payment for lists that span several links. */
export const serializeOwnPayment = (
  dependencies: Dependencies,
  payment: Payment,
): OwnPaymentData => ({
  ...serializePayment(dependencies, payment),
  paymentLinkId: payment.linkId,
});

/**
 * Returns the URL of a payment's transaction in the explorer of its chain. A provider can report a
 * transaction of another chain, so only payments that settlement-listener found on the chain have a
 * URL.
 */
const findTransactionUrl = (
  { catalogue }: Dependencies,
  { chainId, source, sourceTransaction }: Payment,
): string | null => {
  const chain = catalogue.chains.find(({ id }) => id === chainId);
  if (chain === undefined || sourceTransaction === null) return null;
  if (!isObserved({ chainId: chain.id, source }) && source !== depositSource) return null;
  return buildExplorerUrl(chain, sourceTransaction) ?? null;
};
