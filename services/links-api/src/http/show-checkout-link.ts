import { type CheckoutLink, checkoutPageUrl, formatAmount } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import {
  type PaymentInstructions,
  type instructPayer,
  remainingAmount,
} from "../domain/payment-instructions.ts";
import { showCheckoutTransaction } from "./show-checkout-transaction.ts";

type CheckoutState = {
  advice: ReturnType<typeof instructPayer>;
  /** Payments that are seen but have not settled. */
  pending: readonly Payment[];
  /** The payment in the transaction that was asked for, if it was seen. */
  followed: Payment | undefined;
  now: Date;
};

/**
 * Shows a link to those who are about to pay it. This is the only place that shows its payment
 * reference (rule CHAIN-11). `reason` says why `instructions` is null.
 */
export const showCheckoutLink = (
  deps: Deps,
  link: OwnedLinkView,
  { advice, pending, followed, now }: CheckoutState,
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
  })),
  payment: followed === undefined ? null : showCheckoutTransaction(deps, followed),
  instructions: "instructions" in advice ? showInstructions(advice.instructions) : null,
  reason: "reason" in advice ? advice.reason : null,
});

const showInstructions = (instructions: PaymentInstructions) => ({
  amount: formatAmount(instructions.amount),
  amountBaseUnits: String(instructions.amountBaseUnits),
  proxyAddress: instructions.proxyAddress,
  paymentReference: instructions.paymentReference,
  steps: instructions.steps.map((step) => ({ ...step, value: String(step.value) })),
});
