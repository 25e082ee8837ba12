import { type OutgoingEvent, outgoing } from "@payment-links/bus";
import { depositEventOf, depositState, isDeposit } from "../domain/deposit.ts";
import { type Payment, eventOf } from "../domain/payment.ts";

/**
 * The event of a payment's state on `settlements.v1`, in order with the others of its link; that of a
 * deposit in order with its own.
 */
export const settlementEvent = (payment: Payment, now: Date): OutgoingEvent => {
  const place = { key: payment.paymentLinkId, occurredAt: now };
  if (!isDeposit(payment)) return outgoing(eventOf(payment), { ...place, data: payment });
  const deposit = depositState(payment);
  return outgoing(depositEventOf(deposit), { ...place, data: deposit });
};
