import * as z from "zod";
import type {
  DeliveryAttempt,
  DeliveryData,
  DeliveryDetail,
  LinkDeliveryData,
  WebhookType,
  deliveryStatuses,
} from "@payment-links/contracts";

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

/** An entry of whichever endpoint's log. */
export type LinkDelivery = LoggedDelivery & { endpointId: string; endpointName: string };

/** A failed attempt as it is kept beside its delivery. */
export const StoredAttempt = z.object({
  number: z.int(),
  startedAt: z.string(),
  durationMs: z.int().nullable(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
});
export type StoredAttempt = z.output<typeof StoredAttempt>;

/** A log entry with what is kept of each attempt. */
export type DetailedDelivery = LoggedDelivery & {
  /** Those that were followed by another or by its end, in order. */
  failedAttempts: readonly StoredAttempt[];
  /** How long the last one took. */
  durationMs: number | null;
  /** Whether the attempt of that number has begun and not ended. */
  isUnderWay: boolean;
};

/** What a delivery ends with when its endpoint goes (rule HOOK-6). */
export type AbandonReason = "endpoint disabled" | "endpoint deleted";

/** What the log says of an attempt whose process went away before it could tell how it ended. */
export const interruptedError = "interrupted";

/** A log entry as the console API answers it (rule HOOK-16). */
export const serializeDelivery = (delivery: LoggedDelivery): DeliveryData => ({
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

/** A log entry with its endpoint, as the console API answers it (rule HOOK-18). */
export const serializeLinkDelivery = (delivery: LinkDelivery): LinkDeliveryData => ({
  ...serializeDelivery(delivery),
  endpointId: delivery.endpointId,
  endpointName: delivery.endpointName,
});

/** A log entry with its attempts, as the console API answers it (rule HOOK-16). */
export const serializeDetailedDelivery = (delivery: DetailedDelivery): DeliveryDetail => ({
  ...serializeDelivery(delivery),
  attemptLog: listEndedAttempts(delivery),
});

/**
 * The attempts that have ended, in order. The last one stands in the entry's own fields, unless it is
 * among the failed ones: a 2xx that was reported late came after its attempt was called a failure.
 */
const listEndedAttempts = (delivery: DetailedDelivery): DeliveryAttempt[] => {
  const { attempts, error, durationMs, httpStatus, isUnderWay, lastAttemptAt, status } = delivery;
  const lastEndedNumber = isUnderWay ? attempts - 1 : attempts;
  const failedAttempts = delivery.failedAttempts.filter(
    (attempt) => status !== "Delivered" || attempt.number < lastEndedNumber,
  );
  const isAlreadyListed = failedAttempts.some((attempt) => attempt.number === lastEndedNumber);
  if (isAlreadyListed || lastAttemptAt === null || lastEndedNumber === 0) return failedAttempts;
  const startedAt = lastAttemptAt.toISOString();
  return [...failedAttempts, { number: lastEndedNumber, startedAt, durationMs, httpStatus, error }];
};

/** A lease outlives the longest attempt by this much: for slow writes, and clocks that differ. */
const leaseMarginMs = 20_000;

/** How long a delivery is leased for one attempt, which may take `timeoutMs`. */
export const leaseMsFor = (timeoutMs: number): number => timeoutMs + leaseMarginMs;
