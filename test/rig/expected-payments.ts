import type { OwnerLinkView } from "./payment-system.ts";

type OwnerPaymentView = OwnerLinkView["payments"][number];

/** Returns the owner's view of a settled payment that is applied. */
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

/** Returns the owner's view of a settled payment that is not applied, with the reason. */
export const createUnappliedPayment = (
  reason: string,
  amount: string,
  sourceTransaction: string,
): OwnerPaymentView => ({
  ...createAppliedPayment(amount, sourceTransaction),
  applied: false,
  reason,
});

/** Returns the owner's view of a payment that has been detected and is not settled yet. */
export const createProcessingPayment = (
  amount: string,
  sourceTransaction: string,
): OwnerPaymentView => ({
  ...createAppliedPayment(amount, sourceTransaction),
  status: "processing",
  applied: false,
});

export const unpaidLink: OwnerLinkView = { status: "active", receivedAmount: "0", payments: [] };
