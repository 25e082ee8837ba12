import type { ShownLink } from "./payment-system.ts";

type ShownPayment = ShownLink["payments"][number];

/** How a link's owner is shown a settled payment that counts. */
export const counted = (amount: string, sourceTransaction: string): ShownPayment => ({
  status: "settled",
  applied: true,
  reason: null,
  amount,
  sourceTransaction,
});

/** A settled one that does not count, and why. */
export const uncounted = (
  reason: string,
  amount: string,
  sourceTransaction: string,
): ShownPayment => ({ ...counted(amount, sourceTransaction), applied: false, reason });

/** One that was seen, and is not settled. */
export const processing = (amount: string, sourceTransaction: string): ShownPayment => ({
  ...counted(amount, sourceTransaction),
  status: "processing",
  applied: false,
});

/** A link that nobody has paid. */
export const untouched: ShownLink = { status: "active", receivedAmount: "0", payments: [] };
