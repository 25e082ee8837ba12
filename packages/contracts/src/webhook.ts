import * as z from "zod";
import { wireAmount, wireCount, wireInstant } from "./api/operation.ts";
import { LinkStatus, PaymentStatus } from "./events.ts";
import { LinkTexts } from "./link-texts.ts";

/** The event types that become webhooks (rule HOOK-7). */
export const webhookTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** The configured prefix of the three header names that authenticate a webhook. */
export const WebhookHeaderPrefix = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, { error: "must be letters, digits and hyphens" })
  .default("Service");

/** A webhook's `data.transaction` (rule HOOK-9). */
export const WebhookTransaction = z
  .object({
    id: z.string().meta({ description: "The payment's, `tx_…`." }),
    status: PaymentStatus.meta({ description: "`settled`: it counts, and is final." }),
    amount: wireAmount.meta({ description: "What was paid: a plain decimal of whole tokens." }),
    tokenAddress: z.string().meta({ description: "The token's that was received." }),
    chainId: z.string().meta({ description: "The chain's on which it was received." }),
    sourceTransaction: z.string().nullable().meta({
      description: "The hash of the payer's transaction, which may be on another chain.",
    }),
    dateCreated: wireInstant.meta({ description: "When the payment was first seen." }),
  })
  .meta({ id: "WebhookTransaction" });
export type WebhookTransaction = z.output<typeof WebhookTransaction>;

const WebhookLink = z.object({
  paymentLinkId: z.string().meta({ description: "`plink_…`" }),
  status: LinkStatus.meta({ description: "As it is by now; of a completing payment `completed`." }),
  amount: wireAmount.meta({
    description: "The link's `toAmount`: a plain decimal of whole tokens.",
  }),
  receivedAmount: wireAmount.meta({
    description:
      "Total settled so far. A link completed by usage may be underpaid: compare it with amount.",
  }),
  currentUsage: wireCount.meta({ description: "How many payments settled so far." }),
  maxUsage: z.int().min(1).nullable().meta({
    description: "How many payments complete the link; no number of them where null.",
  }),
  chainId: z.string().meta({ description: "The chain's on which the link is paid." }),
  tokenAddress: z.string().meta({ description: "The token's in which it is paid." }),
  ...LinkTexts.shape,
});
export type WebhookLink = z.output<typeof WebhookLink>;

const dataDescription = "The link as it stands when this attempt is sent.";

const envelopeFields = {
  id: z.string().meta({ description: "As in the header: what repeats are known by." }),
  createdAt: wireInstant.meta({
    description: "When the payment was applied, not when this was sent.",
  }),
};

/** The body of a delivery by event type (rule HOOK-8). `data` is the link's state at send time. */
export const webhookBodies = {
  "payment_link.transaction.succeeded": z
    .object({
      ...envelopeFields,
      type: z.literal("payment_link.transaction.succeeded"),
      data: WebhookLink.extend({ transaction: WebhookTransaction }).meta({
        description: dataDescription,
      }),
    })
    .meta({ id: "TransactionSucceededWebhook" }),
  "payment_link.completed": z
    .object({
      ...envelopeFields,
      type: z.literal("payment_link.completed"),
      data: WebhookLink.meta({ description: dataDescription }),
    })
    .meta({ id: "CompletedWebhook" }),
} as const satisfies Record<WebhookType, z.ZodObject>;

/**
 * The fields of every delivery, including those of future event types (rule HOOK-7). A receiver
 * parses these first.
 */
export const AnyWebhook = z
  .object({
    ...envelopeFields,
    type: z.string().meta({
      description:
        "The set is open: new types may be added, and a receiver ignores what it knows not.",
      examples: [...webhookTypes],
    }),
    data: z.record(z.string(), z.unknown()).meta({ description: "By its type." }),
  })
  .meta({ id: "Webhook" });
