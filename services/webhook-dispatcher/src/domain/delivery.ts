import type { DeliveryData, WebhookType, deliveryStatuses } from "@payment-links/contracts";

/** Where a delivery stands. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One entry of an endpoint's delivery log. */
export type LoggedDelivery = {
  id: string;
  eventType: WebhookType;
  /** Null for what was over before this was kept. */
  linkId: string | null;
  /** The payment that it tells of; null where it tells of none. */
  paymentId: string | null;
  status: DeliveryStatus;
  attempts: number;
  httpStatus: number | null;
  error: string | null;
  dateCreated: Date;
  lastAttemptAt: Date | null;
  nextAttemptAt: Date | null;
};

/** What a delivery ends with when its endpoint goes (rule HOOK-6). */
export type AbandonReason = "endpoint disabled" | "endpoint deleted";

/** What the log says of an attempt whose process went away before it could tell how it ended. */
export const interruptedError = "interrupted";

/** A log entry as the console API answers it (rule HOOK-16). */
export const showDelivery = (delivery: LoggedDelivery): DeliveryData => ({
  id: delivery.id,
  eventType: delivery.eventType,
  linkId: delivery.linkId,
  paymentId: delivery.paymentId,
  status: delivery.status,
  attempts: delivery.attempts,
  httpStatus: delivery.httpStatus,
  error: delivery.error,
  dateCreated: delivery.dateCreated.toISOString(),
  lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
});

/** A lease outlives the longest attempt by this much: for slow writes, and clocks that differ. */
const leaseMarginMs = 20_000;

/** How long a delivery is leased for one attempt, which may take `timeoutMs`. */
export const leaseMsOf = (timeoutMs: number): number => timeoutMs + leaseMarginMs;
