import type { PaymentStep, TronCall } from "@payment-links/chains";
import { type CheckoutLink, buildCheckoutPageUrl, formatAmount } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { type OwnedLinkView, isVerifiedSeller } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import type { WrongToken } from "../domain/wrong-token.ts";
import type { PendingPayment } from "../store/payments.ts";
import {
  type InstructionsResult,
  type PaymentInstructions,
  getRemainingAmount,
} from "../domain/payment-instructions.ts";
import { buildTransactionRequestUrl } from "../domain/solana-request.ts";
import { serializeCheckoutTransaction } from "./serialize-checkout-transaction.ts";

type CheckoutState = {
  instructionsResult: InstructionsResult;
  /** Payments that were seen but have not settled. */
  pendingPayments: readonly PendingPayment[];
  /** The payment that was made in the requested transaction, if it was seen. */
  followedPayment: Payment | undefined;
  wrongToken: WrongToken | undefined;
  now: Date;
};

/**
 * Serializes a link for its payers. Only this response contains the payment reference (rule
 * CHAIN-11). `reason` says why `instructions` is null.
 */
export const serializeCheckoutLink = (
  dependencies: Dependencies,
  link: OwnedLinkView,
  { instructionsResult, pendingPayments, followedPayment, wrongToken, now }: CheckoutState,
): CheckoutLink => ({
  id: link.id,
  url: buildCheckoutPageUrl(dependencies.checkoutUrl, link.owner.handle, link.id),
  status: statusAt(link, now),
  toAmount: link.toAmount,
  receivedAmount: link.receivedAmount,
  remainingAmount: formatAmount(getRemainingAmount(link)),
  currentUsage: link.currentUsage,
  maxUsage: link.maxUsage,
  expirationDate: link.expiresAt?.toISOString() ?? null,
  destinationAddress: link.destinationAddress,
  token: dependencies.getToken(link.tokenId).tokenData,
  pendingPayments: pendingPayments.map((payment) => ({
    id: payment.id,
    amount: formatAmount(payment.amount),
    sourceTransaction: payment.sourceTransaction,
    dateCreated: payment.firstSeenAt.toISOString(),
    confirmations: payment.confirmations,
  })),
  payment:
    followedPayment === undefined
      ? null
      : serializeCheckoutTransaction(dependencies, followedPayment),
  instructions:
    "instructions" in instructionsResult
      ? serializeInstructions(dependencies, link, instructionsResult.instructions)
      : null,
  reason: "reason" in instructionsResult ? instructionsResult.reason : null,
  wrongToken: wrongToken ?? null,
  ...(dependencies.isSignUpOpen ? { isSellerVerified: isVerifiedSeller(link.owner) } : {}),
});

const serializeInstructions = (
  { checkoutUrl }: Dependencies,
  { id }: OwnedLinkView,
  instructions: PaymentInstructions,
) => {
  const amount = formatAmount(instructions.amount);
  const amountBaseUnits = String(instructions.amountBaseUnits);
  if ("transferRequestUrl" in instructions) {
    const requestUrl = buildTransactionRequestUrl(checkoutUrl, id, instructions);
    return { ...instructions, transactionRequestUrl: requestUrl, amount, amountBaseUnits };
  }
  if (!("steps" in instructions)) return { ...instructions, amount, amountBaseUnits };
  const { proxyAddress, paymentReference } = instructions;
  const steps = instructions.steps.map(serializeStep);
  const ways = instructions.ways.map((way) => ({ ...way, steps: way.steps.map(serializeStep) }));
  return { amount, amountBaseUnits, proxyAddress, paymentReference, steps, ways };
};

const serializeStep = ({ tron, value, ...step }: PaymentStep) => ({
  ...step,
  value: String(value),
  ...(tron === undefined ? {} : { tron: serializeTronCall(tron) }),
});

/** Serializes a call for a Tron wallet. */
export const serializeTronCall = ({ feeLimitSun, ...call }: TronCall) => ({
  ...call,
  feeLimit: String(feeLimitSun),
});
