import * as z from "zod";
import type {
  DeliveryAttempt,
  DeliveryData,
  DeliveryDetail,
  DeliveryRequest,
  LinkDeliveryData,
  WebhookType,
  deliveryStatuses,
} from "@payment-links/contracts";
import type { Target } from "./attempt.ts";
import { createWebhookHeaders } from "./signature.ts";

/** The status of a delivery. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An entry in the delivery log of an endpoint. */
export type LoggedDelivery = {
  id: string;
  eventType: WebhookType;
  /** Null for deliveries that ended before this column existed. */
  linkId: string | null;
  /** The payment of the event, or null if the event has none. */
  paymentId: string | null;
  status: DeliveryStatus;
  attempts: number;
  httpStatus: number | null;
  error: string | null;
  dateCreated: Date;
  lastAttemptAt: Date | null;
  nextAttemptAt: Date | null;
};

/** A log entry together with its endpoint. */
export type LinkDelivery = LoggedDelivery & { endpointId: string; endpointName: string };

/** A failed attempt as stored with its delivery. */
export const StoredAttempt = z.object({
  number: z.int(),
  startedAt: z.string(),
  durationMs: z.int().nullable(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
});
export type StoredAttempt = z.output<typeof StoredAttempt>;

/** A log entry with its stored attempts. */
export type DetailedDelivery = LoggedDelivery & {
  /** The failed attempts after which the delivery was retried or abandoned, in order. */
  failedAttempts: readonly StoredAttempt[];
  /** The duration of the last attempt. */
  durationMs: number | null;
  /** Whether attempt number `attempts` is in progress. */
  isUnderWay: boolean;
  /** The body that the last ended attempt sent. Null for attempts before this column existed. */
  sentBody: string | null;
};

/** The error of a delivery whose endpoint was disabled or deleted (rule HOOK-6). */
export type AbandonReason = "endpoint disabled" | "endpoint deleted";

/** The error of an attempt whose process died before it could report the result. */
export const interruptedError = "interrupted";

/** Serializes a log entry for the console API (rule HOOK-16). */
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

/** Serializes a log entry with its endpoint for the console API (rule HOOK-18). */
export const serializeLinkDelivery = (delivery: LinkDelivery): LinkDeliveryData => ({
  ...serializeDelivery(delivery),
  endpointId: delivery.endpointId,
  endpointName: delivery.endpointName,
});

type RequestOptions = { target: Target | undefined; headerPrefix: string };

/**
 * Serializes a log entry with its attempts and the last request for the console API (rule HOOK-16).
 * The request is null if the endpoint has no usable target.
 */
export const serializeDetailedDelivery = (
  delivery: DetailedDelivery,
  options: RequestOptions,
): DeliveryDetail => ({
  ...serializeDelivery(delivery),
  attemptLog: listEndedAttempts(delivery),
  request: serializeRequest(delivery, options),
});

/** Serializes the request of the last ended attempt. Its signature is computed again. */
const serializeRequest = (
  { id, lastAttemptAt, sentBody }: DetailedDelivery,
  { target, headerPrefix: prefix }: RequestOptions,
): DeliveryRequest | null => {
  if (lastAttemptAt === null || sentBody === null || !target?.url) return null;
  const { secret, url } = target;
  const signatureInput = { prefix, secret, eventId: id, body: sentBody };
  const headers = createWebhookHeaders({ ...signatureInput, now: lastAttemptAt });
  return {
    url: url.href,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: sentBody,
  };
};

/**
 * Lists the ended attempts in order. The last one comes from the entry's own fields, unless it is
 * among the stored failed attempts. A 2xx that was recorded after an interruption replaces the
 * failed attempt.
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

/**
 * How much longer a lease lasts than the deadline of its attempt. This allows for slow writes and
 * for clock differences.
 */
const leaseMarginMs = 20_000;

/** Returns how long a delivery is leased for an attempt with the given timeout. */
export const leaseMsFor = (timeoutMs: number): number => timeoutMs + leaseMarginMs;
