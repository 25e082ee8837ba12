import * as z from "zod";
import { Mode, modes } from "../mode.ts";
import { PageQuery } from "../payment-link.ts";
import {
  type Parser,
  body,
  bool,
  nullable,
  optional,
  oneOf,
  parameter,
  required,
  formattedText,
  text,
} from "../validation.ts";
import { webhookTypes } from "../webhook.ts";
import { ModeQuery, type Operation, listOf, pageOf, wireCount, wireInstant } from "./operation.ts";

const name = text({ lengthMin: 1, lengthMax: 100 });

/**
 * Accepts any string, because one error code covers every problem with a URL, including its length
 * (rule HOOK-2).
 */
const urlString = formattedText({ format: "uri" });

const immutableField: Parser<never> = { schema: { not: {} }, parse: () => "no_update" };

/** The request body for a new webhook endpoint. */
export const CreateEndpointBody = body({
  url: required(urlString).describe("A public https URL without a port."),
  name: required(name),
  mode: nullable(oneOf(modes)).describe(
    "Whether the endpoint receives the webhooks of live or of test links. Defaults to `live`.",
  ),
}).meta({ id: "NewWebhookEndpoint" });

/** The changes to an endpoint. Its `url` cannot change. */
export const EndpointChange = body({
  url: optional(immutableField),
  name: optional(name),
  enabled: optional(bool),
}).meta({ id: "WebhookEndpointChange" });

/** The result of the last attempt to deliver to an endpoint. */
export const endpointOutcomes = ["Delivered", "Failed"] as const;

/**
 * The status of a delivery (rule HOOK-16):
 * - `Pending`: in flight or waiting for its next attempt
 * - `Delivered`: the endpoint responded with 2xx
 * - `Failed`: all attempts were used, or the endpoint was deleted
 */
export const deliveryStatuses = ["Pending", "Delivered", "Failed"] as const;

/**
 * The query parameters of an endpoint's delivery log. The offset counts the entries that
 * match the filter (rule HOOK-16).
 */
export const ListDeliveriesQuery = z.object({
  status: parameter(oneOf(deliveryStatuses)),
  eventType: parameter(oneOf(webhookTypes)),
  ...PageQuery.shape,
});

/** An endpoint as its owner sees it. */
export const WebhookEndpointData = z
  .object({
    id: z.string(),
    url: z.string(),
    name: z.string(),
    mode: Mode,
    enabled: z.boolean(),
    secretPrefix: z.string(),
    dateCreated: wireInstant,
    lastOutcome: z.enum(endpointOutcomes).nullable(),
    consecutiveFailures: wireCount.meta({
      description: "Failed attempts since the last 2xx response.",
    }),
  })
  .meta({ id: "WebhookEndpointData" });
export type WebhookEndpointData = z.output<typeof WebhookEndpointData>;

/** The number of attempts to an endpoint that ended in one hour, by result. */
export const RecentHour = z
  .object({
    hour: wireInstant.meta({ description: "The start of the hour, in UTC." }),
    delivered: wireCount,
    failed: wireCount,
  })
  .meta({ id: "RecentHour" });
export type RecentHour = z.output<typeof RecentHour>;

/** An endpoint in the list, with its results of the last day (rule HOOK-17). */
const ListedWebhookEndpoint = WebhookEndpointData.extend({
  recent: z.array(RecentHour).meta({
    description:
      "The last 24 hours, oldest first, up to the current hour. Includes hours without attempts.",
  }),
}).meta({ id: "ListedWebhookEndpoint" });

/** The list of endpoints, with the header prefix that their receivers look for. */
const WebhookEndpointList = listOf(ListedWebhookEndpoint)
  .extend({
    headerPrefix: z.string().meta({
      description:
        "The prefix of a webhook's header names, such as `Service` in `Service-Signature`.",
      examples: ["Service"],
    }),
  })
  .meta({ id: "WebhookEndpointList" });

/** A new endpoint, including its signing secret. No other response contains it. */
const CreatedWebhookEndpoint = WebhookEndpointData.extend({ secret: z.string() }).meta({
  id: "CreatedWebhookEndpoint",
});

/** One entry of an endpoint's delivery log. */
export const DeliveryData = z
  .object({
    id: z.string(),
    eventType: z.string(),
    linkId: z.string().nullable().meta({
      description:
        "The payment link of the event. Null for a delivery that ended before the link was recorded.",
    }),
    paymentId: z
      .string()
      .nullable()
      .meta({ description: "The payment of the event. Null for an event without a payment." }),
    status: z.enum(deliveryStatuses),
    attempts: wireCount.meta({ description: "The number of attempts started, at most 6." }),
    httpStatus: z.int().min(100).max(999).nullable(),
    error: z.string().nullable(),
    dateCreated: wireInstant,
    lastAttemptAt: wireInstant.nullable(),
    nextAttemptAt: wireInstant.nullable(),
  })
  .meta({ id: "DeliveryData" });
export type DeliveryData = z.output<typeof DeliveryData>;

/** One completed attempt of a delivery. */
export const DeliveryAttempt = z
  .object({
    number: z.int().min(1),
    startedAt: wireInstant,
    durationMs: wireCount.nullable().meta({ description: "Null if the duration is unknown." }),
    httpStatus: z.int().min(100).max(999).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>;

/** The request of an attempt, as it was sent. */
export const DeliveryRequest = z
  .object({
    url: z.string(),
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .meta({ description: "All headers except `traceparent`." }),
    body: z.string(),
  })
  .meta({ id: "DeliveryRequest" });
export type DeliveryRequest = z.output<typeof DeliveryRequest>;

/** A delivery log entry with its attempts. */
export const DeliveryDetail = DeliveryData.extend({
  attemptLog: z.array(DeliveryAttempt).meta({
    description:
      "The completed attempts, in order. For older deliveries, only the last attempt is available.",
  }),
  request: DeliveryRequest.nullable().meta({
    description:
      "The request of the last completed attempt. Null if no attempt was completed, or for older deliveries.",
  }),
}).meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof DeliveryDetail>;

/** The query parameters of the deliveries for one link (rule HOOK-18). */
export const LinkDeliveriesQuery = z.object({
  linkId: required(text({ lengthMax: 64 })),
  ...ModeQuery.shape,
  ...PageQuery.shape,
});

/** A delivery for a link, with its endpoint, which may have been deleted since. */
export const LinkDeliveryData = DeliveryData.extend({
  endpointId: z.string(),
  endpointName: z.string(),
}).meta({ id: "LinkDeliveryData" });
export type LinkDeliveryData = z.output<typeof LinkDeliveryData>;

const collectionOperation = {
  path: "/console/api/webhook-endpoints",
  caller: "session",
  tag: "Webhooks",
} as const;
const itemOperation = {
  ...collectionOperation,
  path: "/console/api/webhook-endpoints/:id",
} as const;

/** The operations on the signed-in user's webhook endpoints. */
export const webhookEndpointOperations = {
  list: {
    ...collectionOperation,
    method: "get",
    operationId: "listWebhookEndpoints",
    summary: "List the webhook endpoints that are not deleted",
    responses: { 200: WebhookEndpointList },
  },
  create: {
    ...collectionOperation,
    method: "post",
    needsPresence: true,
    operationId: "createWebhookEndpoint",
    summary: "Create a webhook endpoint",
    description: "Only this response contains the signing secret.",
    body: CreateEndpointBody,
    responses: { 201: CreatedWebhookEndpoint },
    errors: ["INVALID_WEBHOOK_URL", "WEBHOOK_ENDPOINT_LIMIT"],
  },
  change: {
    ...itemOperation,
    method: "patch",
    operationId: "changeWebhookEndpoint",
    summary: "Rename, disable or enable a webhook endpoint",
    description:
      "Disabling an endpoint cancels its pending deliveries. Enabling it again does not replay them.",
    body: EndpointChange,
    responses: { 200: WebhookEndpointData },
  },
  delete: {
    ...itemOperation,
    method: "delete",
    operationId: "deleteWebhookEndpoint",
    summary: "Delete a webhook endpoint",
    description: "Its delivery log stays available.",
    responses: { 204: null },
  },
  listDeliveries: {
    ...itemOperation,
    path: `${itemOperation.path}/deliveries`,
    method: "get",
    operationId: "listDeliveries",
    summary: "List an endpoint's deliveries, newest first",
    query: ListDeliveriesQuery,
    responses: { 200: pageOf(DeliveryData).meta({ id: "DeliveryPage" }) },
  },
  getDelivery: {
    ...itemOperation,
    path: `${itemOperation.path}/deliveries/:deliveryId`,
    method: "get",
    operationId: "getDelivery",
    summary: "Get a delivery with all its attempts and its last request",
    responses: { 200: DeliveryDetail },
  },
  listLinkDeliveries: {
    ...collectionOperation,
    path: "/console/api/webhook-deliveries",
    method: "get",
    operationId: "listLinkDeliveries",
    summary: "List the deliveries for a payment link to all endpoints, newest first",
    description: "The list is empty for a link of another account.",
    query: LinkDeliveriesQuery,
    responses: { 200: pageOf(LinkDeliveryData).meta({ id: "LinkDeliveryPage" }) },
  },
} as const satisfies Record<string, Operation>;
