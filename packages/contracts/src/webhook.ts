import * as z from "zod";
import { wireInstant } from "./api/operation.ts";
import { LinkStatus, PaymentStatus } from "./events.ts";
import { LinkTexts } from "./link-texts.ts";

/** The event types that become webhooks (rule HOOK-7). */
export const webhookTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** What the names of the three headers that authenticate a webhook begin with, as it is configured. */
export const WebhookHeaderPrefix = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, { error: "must be letters, digits and hyphens" })
  .default("Service");

/** A webhook's `data.transaction` (rule HOOK-9). */
export const WebhookTransaction = z
  .object({
    id: z.string(),
    status: PaymentStatus,
    amount: z.string(),
    tokenAddress: z.string(),
    chainId: z.string(),
    sourceTransaction: z.string().nullable(),
    dateCreated: wireInstant,
  })
  .meta({ id: "WebhookTransaction" });
export type WebhookTransaction = z.output<typeof WebhookTransaction>;

const WebhookLink = z.object({
  paymentLinkId: z.string(),
  status: LinkStatus,
  amount: z.string(),
  receivedAmount: z.string().meta({
    description:
      "Total settled so far. A link completed by usage may be underpaid: compare it with amount.",
  }),
  currentUsage: z.int(),
  maxUsage: z.int().nullable(),
  chainId: z.string(),
  tokenAddress: z.string(),
  ...LinkTexts.shape,
});
export type WebhookLink = z.output<typeof WebhookLink>;

const head = { id: z.string(), createdAt: wireInstant };

/** The body of a delivery, by its type (rule HOOK-8). `data` is the link's state at send time. */
export const webhookBodies = {
  "payment_link.transaction.succeeded": z
    .object({
      ...head,
      type: z.literal("payment_link.transaction.succeeded"),
      data: WebhookLink.extend({ transaction: WebhookTransaction }),
    })
    .meta({ id: "TransactionSucceededWebhook" }),
  "payment_link.completed": z
    .object({ ...head, type: z.literal("payment_link.completed"), data: WebhookLink })
    .meta({ id: "CompletedWebhook" }),
} as const satisfies Record<WebhookType, z.ZodObject>;

/** What every delivery is, those of types to come as well (rule HOOK-7): what a receiver parses first. */
export const AnyWebhook = z
  .object({
    ...head,
    type: z.string().meta({
      description:
        "The set is open: new types may be added, and a receiver ignores what it knows not.",
      examples: [...webhookTypes],
    }),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Webhook" });
