import * as z from "zod";
import { type ZodOpenApiOperationObject, createDocument } from "zod-openapi";
import {
  AnyWebhook,
  type Scope,
  type WebhookType,
  publicLinkOperations,
  validationMessages,
  webhookBodies,
} from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { describeOperations, documentOptions } from "./describe-operations.ts";

type Subject = Pick<Deps, "baseUrl" | "createBody" | "webhookHeaderPrefix">;

/** Describes the public API and its webhooks as OpenAPI 3.1. */
export const describePublicApi = ({ baseUrl, createBody, webhookHeaderPrefix }: Subject) =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Payment Links",
        version: "1.0.0",
        description: introduction,
        contact: { name: "Whoever runs this service", url: baseUrl },
      },
      servers: [{ url: baseUrl }],
      tags: [
        { name: "Payment links", description: "Create, list and retrieve payment links." },
        { name: "Webhooks", description: "What is sent to the owner's endpoints." },
      ],
      paths: describeOperations(Object.values(publicLinkOperations(createBody))),
      webhooks: Object.fromEntries(
        Object.entries(webhooks).map(([name, webhook]) => [
          name,
          { post: describeWebhook(webhook, webhookHeaderPrefix) },
        ]),
      ),
      components: { securitySchemes: { apiKey: apiKeyScheme } },
    },
    documentOptions,
  );

const introduction = `Request payments through shareable payment links. Amounts are plain decimal strings.

A link that was completed by its number of payments may be underpaid, and one completed by amount may be
overpaid: always compare receivedAmount with the amount that you asked for.

Branch on an error's code, never on its message. Beside the codes that each operation names, a body or a
query that is not as described is refused with 422 and one entry per problem:

${Object.entries(validationMessages)
  .map(([code, message]) => `- \`${code}\`: ${message}`)
  .join("\n")}`;

const scopeTexts: Readonly<Record<Scope, string>> = {
  "payment_link:create": "creating payment links",
  "payment_link:read": "listing payment links",
};

const apiKeyScheme = {
  type: "apiKey",
  in: "header",
  name: "X-API-Key",
  description: `A key acts as its owner, within its scopes: ${Object.entries(scopeTexts)
    .map(([scope, text]) => `\`${scope}\` (${text})`)
    .join(", ")}.`,
} as const;

/** What is sent to endpoints: the types that there are, and what any other will be like. */
const webhooks = {
  "payment_link.transaction.succeeded": {
    operationId: "paymentLinkTransactionSucceeded",
    summary: "A payment against the link has settled",
    body: webhookBodies["payment_link.transaction.succeeded"],
  },
  "payment_link.completed": {
    operationId: "paymentLinkCompleted",
    summary: "A payment has completed the link",
    body: webhookBodies["payment_link.completed"],
  },
  other: {
    operationId: "otherWebhook",
    summary: "A type that is still to come: acknowledge it and do nothing",
    body: AnyWebhook,
  },
} as const satisfies Record<WebhookType | "other", object>;

type Webhook = (typeof webhooks)[keyof typeof webhooks];

const describeWebhook = (
  { body, operationId, summary }: Webhook,
  prefix: string,
): ZodOpenApiOperationObject => ({
  operationId,
  summary,
  description:
    "Sent to every enabled endpoint of the owner, at least once and in no order. Verify the signature " +
    "over the raw bytes, de-duplicate on the event's id, and compare receivedAmount with amount. " +
    "New types may come: parse a body as the schema `Webhook` first, and then by its type.",
  tags: ["Webhooks"],
  security: [],
  requestParams: {
    header: z.object({
      [`${prefix}-Signature`]: z
        .string()
        .describe("`v1=` and the hex HMAC-SHA256 of timestamp, period, body."),
      [`${prefix}-Timestamp`]: z
        .string()
        .describe("Unix seconds at which this attempt was signed."),
      [`${prefix}-Event-Id`]: z
        .string()
        .describe("The same at every retry; equals `id` in the body."),
    }),
  },
  requestBody: {
    required: true,
    content: { "application/json": { schema: body } },
  },
  responses: { "2XX": { description: "Received; nothing more is sent for this event." } },
});
