import type { OwnPaymentLink, PaymentData } from "../../../api/operations.ts";
import { fromUnits, toUnits } from "../../../ui/decimal.ts";
import { getLinkProgress } from "../progress.ts";

type RefundedLink = Pick<OwnPaymentLink, "payments" | "receivedAmount" | "refunds" | "toAmount">;
type RefundedPayment = Pick<PaymentData, "amount" | "applied" | "id">;

/**
 * Returns the amount that a refund of a payment suggests: the excess of an overpaid link, and
 * otherwise the whole payment, each without what was already refunded. Returns undefined if nothing
 * is left.
 */
export const suggestRefundAmount = (
  link: RefundedLink,
  payment: RefundedPayment,
): string | undefined => {
  const { excessAmount } = getLinkProgress(link);
  const isExcess = payment.applied && excessAmount !== undefined;
  const refundable = isExcess
    ? minUnits(toUnits(excessAmount), toUnits(payment.amount))
    : toUnits(payment.amount);
  // The excess belongs to all applied payments together. The link contains only its newest
  // payments, so the refund of a payment that is missing counts as well.
  const unappliedIds = new Set(link.payments.flatMap(({ applied, id }) => (applied ? [] : id)));
  const refunded = sumRefunds(link, (paymentId) =>
    isExcess ? !unappliedIds.has(paymentId) : paymentId === payment.id,
  );
  return refundable > refunded ? fromUnits(refundable - refunded) : undefined;
};

/** Returns the sum of the recorded refunds of a payment, or undefined if there is none. */
export const sumPaymentRefunds = (
  link: RefundedLink,
  { id }: Pick<PaymentData, "id">,
): string | undefined => {
  const refunded = sumRefunds(link, (paymentId) => paymentId === id);
  return refunded === 0n ? undefined : fromUnits(refunded);
};

const sumRefunds = ({ refunds }: RefundedLink, isCounted: (paymentId: string) => boolean): bigint =>
  refunds
    .filter(({ paymentId }) => isCounted(paymentId))
    .reduce((sum, { amount }) => sum + toUnits(amount), 0n);

const minUnits = (first: bigint, second: bigint): bigint => (first < second ? first : second);
