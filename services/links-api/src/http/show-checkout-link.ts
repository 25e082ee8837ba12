import { type CheckoutLink, checkoutPageUrl, formatAmount } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { PaymentStep, TronCall } from "../domain/contract-instructions.ts";
import { type OwnedLinkView, isVerifiedSeller } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import type { WrongToken } from "../domain/wrong-token.ts";
import type { PendingPayment } from "../store/payments.ts";
import {
  type PayerAdvice,
  type PaymentInstructions,
  remainingAmount,
} from "../domain/payment-instructions.ts";
import { transactionRequestUrl } from "../domain/solana-request.ts";
import { showCheckoutTransaction } from "./show-checkout-transaction.ts";

type CheckoutState = {
  advice: PayerAdvice;
  /** Payments that are seen but have not settled. */
  pending: readonly PendingPayment[];
  /** The payment in the transaction that was asked for, if it was seen. */
  followed: Payment | undefined;
  wrongToken: WrongToken | undefined;
  now: Date;
};

/**
 * Shows a link to those who are about to pay it. This is the only place that shows its payment
 * reference (rule CHAIN-11). `reason` says why `instructions` is null.
 */
export const showCheckoutLink = (
  deps: Deps,
  link: OwnedLinkView,
  { advice, pending, followed, wrongToken, now }: CheckoutState,
): CheckoutLink => ({
  id: link.id,
  url: checkoutPageUrl(deps.checkoutUrl, link.owner.handle, link.id),
  status: statusAt(link, now),
  toAmount: link.toAmount,
  receivedAmount: link.receivedAmount,
  remainingAmount: formatAmount(remainingAmount(link)),
  currentUsage: link.currentUsage,
  maxUsage: link.maxUsage,
  expirationDate: link.expiresAt?.toISOString() ?? null,
  destinationAddress: link.destinationAddress,
  token: deps.tokenOf(link.tokenId).shown,
  pendingPayments: pending.map((payment) => ({
    id: payment.id,
    amount: formatAmount(payment.amount),
    sourceTransaction: payment.sourceTransaction,
    dateCreated: payment.firstSeenAt.toISOString(),
    confirmations: payment.confirmations,
  })),
  payment: followed === undefined ? null : showCheckoutTransaction(deps, followed),
  instructions: "instructions" in advice ? showInstructions(deps, link, advice.instructions) : null,
  reason: "reason" in advice ? advice.reason : null,
  wrongToken: wrongToken ?? null,
  ...(deps.isSignUpOpen ? { isSellerVerified: isVerifiedSeller(link.owner) } : {}),
});

const showInstructions = (
  { checkoutUrl }: Deps,
  { id }: OwnedLinkView,
  instructions: PaymentInstructions,
) => {
  const amount = formatAmount(instructions.amount);
  const amountBaseUnits = String(instructions.amountBaseUnits);
  if ("transferRequestUrl" in instructions) {
    const request = transactionRequestUrl(checkoutUrl, id, instructions);
    return { ...instructions, transactionRequestUrl: request, amount, amountBaseUnits };
  }
  if (!("steps" in instructions)) return { ...instructions, amount, amountBaseUnits };
  const { proxyAddress, paymentReference } = instructions;
  const steps = instructions.steps.map(showStep);
  const ways = instructions.ways.map((way) => ({ ...way, steps: way.steps.map(showStep) }));
  return { amount, amountBaseUnits, proxyAddress, paymentReference, steps, ways };
};

const showStep = ({ tron, value, ...step }: PaymentStep) => ({
  ...step,
  value: String(value),
  ...(tron === undefined ? {} : { tron: showTronCall(tron) }),
});

const showTronCall = ({ feeLimitSun, ...call }: TronCall) => ({
  ...call,
  feeLimit: String(feeLimitSun),
});
