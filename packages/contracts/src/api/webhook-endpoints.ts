import * as z from "zod";
import { PageQuery } from "../payment-link.ts";
import {
  type Parser,
  body,
  bool,
  optional,
  oneOf,
  parameter,
  required,
  text,
} from "../validation.ts";
import { webhookTypes } from "../webhook.ts";
import { type Operation, listOf, pageOf, wireCount, wireInstant } from "./operation.ts";

const name = text({ lengthMin: 1, lengthMax: 100 });

/** Any string: what is wrong with a URL is told by one code, its length too (rule HOOK-2). */
const urlString: Parser<string> = {
  schema: { type: "string", format: "uri" },
  parse: (input) => (typeof input === "string" ? { value: input } : "string_type"),
};

const immutableField: Parser<never> = { schema: { not: {} }, parse: () => "no_update" };

/** A new webhook endpoint. */
export const CreateEndpointBody = body({
  url: required(urlString).describe("A public https address without a port."),
  name: required(name),
}).meta({ id: "NewWebhookEndpoint" });

/** What changes of an endpoint; its `url` never does. */
export const EndpointChange = body({
  url: optional(immutableField),
  name: optional(name),
  enabled: optional(bool),
}).meta({ id: "WebhookEndpointChange" });

/** How the last attempt to an endpoint ended. */
export const endpointOutcomes = ["Delivered", "Failed"] as const;

/** In flight or waiting; 2xx answered; all attempts used or the endpoint gone (rule HOOK-16). */
export const deliveryStatuses = ["Pending", "Delivered", "Failed"] as const;

/** The query of an endpoint's log; the offset counts the entries that are left (rule HOOK-16). */
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
    enabled: z.boolean(),
    secretPrefix: z.string(),
    dateCreated: wireInstant,
    lastOutcome: z.enum(endpointOutcomes).nullable(),
    consecutiveFailures: wireCount.meta({ description: "Attempts since the last 2xx." }),
  })
  .meta({ id: "WebhookEndpointData" });
export type WebhookEndpointData = z.output<typeof WebhookEndpointData>;

/** How many attempts to an endpoint ended in one hour, by how they did. */
export const RecentHour = z
  .object({
    hour: wireInstant.meta({ description: "When it began, in UTC." }),
    delivered: wireCount,
    failed: wireCount,
  })
  .meta({ id: "RecentHour" });
export type RecentHour = z.output<typeof RecentHour>;

/** An endpoint in the list, with how the last day went (rule HOOK-17). */
const ListedWebhookEndpoint = WebhookEndpointData.extend({
  recent: z.array(RecentHour).meta({
    description: "24 hours, the oldest first and the present one last, those without attempts too.",
  }),
}).meta({ id: "ListedWebhookEndpoint" });

/** The endpoints, and what their receivers look for. */
const WebhookEndpointList = listOf(ListedWebhookEndpoint)
  .extend({
    headerPrefix: z.string().meta({
      description: "What the names of a webhook's headers begin with, such as `Service-Signature`.",
      examples: ["Service"],
    }),
  })
  .meta({ id: "WebhookEndpointList" });

/** A new endpoint, with its signing secret: in this answer and never again. */
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
        "The payment link that it tells of; null where it was over before this was kept.",
    }),
    paymentId: z
      .string()
      .nullable()
      .meta({ description: "The payment that it tells of; null where it tells of none." }),
    status: z.enum(deliveryStatuses),
    attempts: wireCount.meta({ description: "Those that began, six at most." }),
    httpStatus: z.int().min(100).max(999).nullable(),
    error: z.string().nullable(),
    dateCreated: wireInstant,
    lastAttemptAt: wireInstant.nullable(),
    nextAttemptAt: wireInstant.nullable(),
  })
  .meta({ id: "DeliveryData" });
export type DeliveryData = z.output<typeof DeliveryData>;

/** One attempt of a delivery that has ended. */
export const DeliveryAttempt = z
  .object({
    number: z.int().min(1),
    startedAt: wireInstant,
    durationMs: wireCount
      .nullable()
      .meta({ description: "Null where nobody saw how long it took." }),
    httpStatus: z.int().min(100).max(999).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>;

/** An entry of a delivery log with its attempts. */
export const DeliveryDetail = DeliveryData.extend({
  attemptLog: z.array(DeliveryAttempt).meta({
    description:
      "The attempts that have ended, in order; of what was sent before they were kept the last one.",
  }),
}).meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof DeliveryDetail>;

/** The query of what was told about one link (rule HOOK-18). */
export const LinkDeliveriesQuery = z.object({
  linkId: required(text({ lengthMax: 64 })),
  ...PageQuery.shape,
});

/** What was told about a link, and to which endpoint; that may be deleted by now. */
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

/** What a signed-in person does with webhook endpoints. */
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
    summary: "Add a webhook endpoint, whose signing secret this answer alone shows",
    body: CreateEndpointBody,
    responses: { 201: CreatedWebhookEndpoint },
    errors: ["INVALID_WEBHOOK_URL", "WEBHOOK_ENDPOINT_LIMIT"],
  },
  change: {
    ...itemOperation,
    method: "patch",
    operationId: "changeWebhookEndpoint",
    summary: "Rename, disable or enable a webhook endpoint",
    description: "Disabling abandons what is queued; enabling again replays nothing.",
    body: EndpointChange,
    responses: { 200: WebhookEndpointData },
  },
  delete: {
    ...itemOperation,
    method: "delete",
    operationId: "deleteWebhookEndpoint",
    summary: "Delete a webhook endpoint; its log stays readable",
    responses: { 204: null },
  },
  listDeliveries: {
    ...itemOperation,
    path: `${itemOperation.path}/deliveries`,
    method: "get",
    operationId: "listDeliveries",
    summary: "List an endpoint's deliveries, the newest first",
    query: ListDeliveriesQuery,
    responses: { 200: pageOf(DeliveryData).meta({ id: "DeliveryPage" }) },
  },
  getDelivery: {
    ...itemOperation,
    path: `${itemOperation.path}/deliveries/:deliveryId`,
    method: "get",
    operationId: "getDelivery",
    summary: "Get one delivery with each of its attempts",
    responses: { 200: DeliveryDetail },
  },
  listLinkDeliveries: {
    ...collectionOperation,
    path: "/console/api/webhook-deliveries",
    method: "get",
    operationId: "listLinkDeliveries",
    summary: "List what was told about a payment link, to whichever endpoint, the newest first",
    description: "Of a link that is not the caller's there is none.",
    query: LinkDeliveriesQuery,
    responses: { 200: pageOf(LinkDeliveryData).meta({ id: "LinkDeliveryPage" }) },
  },
} as const satisfies Record<string, Operation>;
