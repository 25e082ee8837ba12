import type { OwnerLinkView } from "./payment-system.ts";

type OwnerPaymentView = OwnerLinkView["payments"][number];

/** How a link's owner is shown a settled payment that counts. */
export const createAppliedPayment = (
  amount: string,
  sourceTransaction: string,
): OwnerPaymentView => ({
  status: "settled",
  applied: true,
  reason: null,
  amount,
  sourceTransaction,
});

/** A settled one that does not count, and why. */
export const createUnappliedPayment = (
  reason: string,
  amount: string,
  sourceTransaction: string,
): OwnerPaymentView => ({
  ...createAppliedPayment(amount, sourceTransaction),
  applied: false,
  reason,
});

/** One that was seen, and is not settled. */
export const createProcessingPayment = (
  amount: string,
  sourceTransaction: string,
): OwnerPaymentView => ({
  ...createAppliedPayment(amount, sourceTransaction),
  status: "processing",
  applied: false,
});

/** A link that nobody has paid. */
export const unpaidLink: OwnerLinkView = { status: "active", receivedAmount: "0", payments: [] };
