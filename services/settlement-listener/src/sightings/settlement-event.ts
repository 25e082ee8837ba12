import { outgoing } from "@payment-links/bus";
import { type Payment, eventOf } from "../domain/payment.ts";

/** The event of a payment's state on `settlements.v1`, in order with the others of its link. */
export const settlementEvent = (payment: Payment, now: Date) =>
  outgoing(eventOf(payment), { key: payment.paymentLinkId, occurredAt: now, data: payment });
