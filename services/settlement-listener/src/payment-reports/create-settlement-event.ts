import { type OutgoingEvent, createOutgoingEvent } from "@payment-links/bus";
import { getDepositEventType, toDepositState, isDeposit } from "../domain/deposit.ts";
import { type Payment, getEventType } from "../domain/payment.ts";

/**
 * Creates the `settlements.v1` event for a payment's state. The key is the link's id (or the
 * deposit's), so all events of one link stay in order.
 */
export const createSettlementEvent = (payment: Payment, now: Date): OutgoingEvent => {
  const envelope = { key: payment.paymentLinkId, occurredAt: now };
  if (!isDeposit(payment))
    return createOutgoingEvent(getEventType(payment), { ...envelope, data: payment });
  const deposit = toDepositState(payment);
  return createOutgoingEvent(getDepositEventType(deposit), { ...envelope, data: deposit });
};
