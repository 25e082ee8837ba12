import * as z from "zod";
import type { Operation } from "./operation.ts";

/** A new listener, including its signing secret. No other response contains it. */
const CreatedWebhookListener = z
  .object({
    id: z.string(),
    secret: z.string().meta({
      description: "Signs the events of this listener, like the secret of a webhook endpoint.",
    }),
    headerPrefix: z.string().meta({
      description:
        "The prefix of a webhook's header names, such as `Service` in `Service-Signature`.",
      examples: ["Service"],
    }),
  })
  .meta({ id: "CreatedWebhookListener" });

/** The data of a `webhook` event: the request that an endpoint would get. */
export type ListenerWebhook = { headers: Record<string, string>; body: string };

const collectionOperation = {
  path: "/command/webhook-listeners",
  caller: "payment_link:read",
  tag: "Command line",
} as const;
const itemOperation = {
  ...collectionOperation,
  path: "/command/webhook-listeners/:id",
} as const;

/** The operations with which `payment-links listen` receives an account's webhooks. */
export const webhookListenerOperations = {
  create: {
    ...collectionOperation,
    method: "post",
    operationId: "createWebhookListener",
    summary: "Create a listener that receives the account's webhooks from now on",
    description:
      "Only this response contains the signing secret. A listener ends when it is deleted, or 5 minutes after its " +
      "last connection.",
    responses: { 201: CreatedWebhookListener },
    errors: ["WEBHOOK_LISTENER_LIMIT"],
  },
  follow: {
    ...itemOperation,
    path: `${itemOperation.path}/events`,
    method: "get",
    operationId: "followWebhookListener",
    summary: "Stream the events of a listener",
    description:
      "Server-sent events. The data of a `webhook` event is JSON with the `headers` and the `body` of the request " +
      "that an endpoint would get. The data of a `dropped` event is JSON with the `count` of events that were " +
      "deleted, because a listener stores at most 1,000. `Last-Event-ID` acknowledges all events up to that id, " +
      "which deletes them. All others are sent again by the next connection. The stream ends after 1 minute or " +
      "100 events: connect again.",
    responses: { 200: null },
    mediaTypes: ["text/event-stream"],
  },
  delete: {
    ...itemOperation,
    method: "delete",
    operationId: "deleteWebhookListener",
    summary: "End a listener and delete its events",
    responses: { 204: null },
  },
} as const satisfies Record<string, Operation>;
