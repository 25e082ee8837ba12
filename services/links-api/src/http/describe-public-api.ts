import * as z from "zod";
import { type ZodOpenApiOperationObject, createDocument } from "zod-openapi";
import {
  AnyWebhook,
  type WebhookType,
  publicLinkOperations,
  testModeOperations,
  webhookBodies,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import {
  apiKeyScheme,
  describeOperations,
  documentOptions,
  errorGuide,
} from "./describe-operations.ts";

type DocumentDependencies = Pick<Dependencies, "baseUrl" | "createBody" | "webhookHeaderPrefix">;

/** Describes the public API and its webhooks as OpenAPI 3.1. */
export const describePublicApi = ({
  baseUrl,
  createBody,
  webhookHeaderPrefix,
}: DocumentDependencies) =>
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
        { name: "Webhooks", description: "Requests that are sent to the owner's endpoints." },
      ],
      paths: describeOperations([
        ...Object.values(publicLinkOperations(createBody)),
        ...Object.values(testModeOperations),
      ]),
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

A link that was completed by its number of payments can be underpaid, and a link that was completed by its
amount can be overpaid. Always compare receivedAmount with the amount that you requested.

The documentation is at \`/docs\`. The response of an error links to the entry of its code there (\`Link\`, \`rel="help"\`).

${errorGuide}`;

/** The webhooks: all current event types, and the general format for future ones. */
const webhooks = {
  "payment_link.transaction.succeeded": {
    operationId: "paymentLinkTransactionSucceeded",
    summary: "A payment on the link has settled",
    body: webhookBodies["payment_link.transaction.succeeded"],
  },
  "payment_link.completed": {
    operationId: "paymentLinkCompleted",
    summary: "A payment has completed the link",
    body: webhookBodies["payment_link.completed"],
  },
  "payment_link.transaction.unapplied": {
    operationId: "paymentLinkTransactionUnapplied",
    summary: "A payment has settled, but does not count on the link",
    body: webhookBodies["payment_link.transaction.unapplied"],
  },
  other: {
    operationId: "otherWebhook",
    summary: "A future event type: acknowledge it and do nothing",
    body: AnyWebhook,
  },
} as const satisfies Record<WebhookType | "other", object>;

type Webhook = (typeof webhooks)[keyof typeof webhooks];

const describeWebhook = (
  { body, operationId, summary }: Webhook,
  headerPrefix: string,
): ZodOpenApiOperationObject => ({
  operationId,
  summary,
  description:
    "Sent to every enabled endpoint of the owner, at least once and in no particular order. Verify the " +
    "signature over the raw bytes, skip a webhook if you have already processed the `id` in its body, and " +
    "compare receivedAmount with amount. " +
    "New types may be added: parse a body by the schema `Webhook` first, and then by its type.",
  tags: ["Webhooks"],
  security: [],
  requestParams: {
    header: z.object({
      [`${headerPrefix}-Signature`]: z
        .string()
        .regex(/^v1=[0-9a-f]{64}$/)
        .describe(
          `\`v1=\` and the lower-case hex HMAC-SHA256 of the value of \`${headerPrefix}-Timestamp\`, a period and ` +
            "the raw bytes of the body. The key is the endpoint's complete signing secret, including `whsec_`. " +
            "Compare in constant time.",
        ),
      [`${headerPrefix}-Timestamp`]: z
        .string()
        .regex(/^[0-9]+$/)
        .describe(
          "When this attempt was signed, in Unix seconds. Differs between attempts. Reject a time that is off by more than 300 s.",
        ),
      [`${headerPrefix}-Event-Id`]: z
        .string()
        .regex(/^evt_/)
        .describe(
          "The same for every attempt, but different for each endpoint. Equals `id` in the body. The body is signed, " +
            "but this header is not: recognize a repeated webhook by the body's `id`.",
        ),
    }),
  },
  requestBody: {
    required: true,
    content: { "application/json": { schema: body } },
  },
  responses: {
    "2XX": {
      description: "Acknowledges the webhook, if sent within 10 s. This event is not sent again.",
    },
    default: {
      description:
        "A failed attempt. This includes a redirect, which is not followed. The webhook is sent again after 30 s, " +
        "then 5 min, 30 min, 2 h and 12 h after the previous attempt: 6 attempts in total. After that, use " +
        "`listPaymentLinks` to get the state of the links.",
    },
  },
});
