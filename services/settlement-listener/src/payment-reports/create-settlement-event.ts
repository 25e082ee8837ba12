import { type OutgoingEvent, createOutgoingEvent } from "@payment-links/bus";
import { getDepositEventType, toDepositState, isDeposit } from "../domain/deposit.ts";
import { type Payment, getEventType } from "../domain/payment.ts";

/**
 * The event of a payment's state on `settlements.v1`, in order with the others of its link; that of a
 * deposit in order with its own.
 */
export const createSettlementEvent = (payment: Payment, now: Date): OutgoingEvent => {
  const envelope = { key: payment.paymentLinkId, occurredAt: now };
  if (!isDeposit(payment))
    return createOutgoingEvent(getEventType(payment), { ...envelope, data: payment });
  const deposit = toDepositState(payment);
  return createOutgoingEvent(getDepositEventType(deposit), { ...envelope, data: deposit });
};
