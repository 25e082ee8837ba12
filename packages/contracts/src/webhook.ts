import * as z from "zod";
import { wireAmount, wireCount, wireInstant } from "./api/operation.ts";
import { publishedReasons } from "./api/payment-links.ts";
import { LinkStatus, PaymentStatus } from "./events.ts";
import { LinkTexts } from "./link-texts.ts";

/** The event types that become webhooks (rule HOOK-7). */
export const webhookTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
  "payment_link.transaction.unapplied",
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
    id: z.string().meta({ description: "The id of the payment, `tx_…`." }),
    status: PaymentStatus.meta({
      description: "`settled`: the payment is final and applied to the link.",
    }),
    amount: wireAmount.meta({ description: "The amount paid, a plain decimal in whole tokens." }),
    tokenAddress: z.string().meta({ description: "The address of the received token." }),
    chainId: z
      .string()
      .meta({ description: "The id of the chain on which the payment was received." }),
    sourceTransaction: z.string().nullable().meta({
      description: "The hash of the payer's transaction, which may be on another chain.",
    }),
    dateCreated: wireInstant.meta({ description: "When the payment was first seen." }),
  })
  .meta({ id: "WebhookTransaction" });
export type WebhookTransaction = z.output<typeof WebhookTransaction>;

/** The `data.transaction` of `payment_link.transaction.unapplied` (rule HOOK-21). */
const UnappliedWebhookTransaction = WebhookTransaction.extend({
  status: PaymentStatus.meta({
    description: "`settled`: the payment is final, although it does not count.",
  }),
  reason: z.enum(publishedReasons).meta({
    description:
      "Why the payment does not count. `wrong_token`: another token or chain. `wrong_destination`: another address. " +
      "`wrong_amount`: finer than the token. `completed`, `expired`, `inactive`: the link no longer accepted payments.",
  }),
}).meta({ id: "UnappliedWebhookTransaction" });

const WebhookLink = z.object({
  paymentLinkId: z.string().meta({ description: "The id of the link, `plink_…`." }),
  status: LinkStatus.meta({
    description: "The current status; `completed` if this payment completed the link.",
  }),
  amount: wireAmount.meta({
    description: "The link's `toAmount`, a plain decimal in whole tokens.",
  }),
  receivedAmount: wireAmount.meta({
    description:
      "The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`.",
  }),
  currentUsage: wireCount.meta({ description: "The number of payments settled so far." }),
  maxUsage: z.int().min(1).nullable().meta({
    description:
      "The number of payments that complete the link. Null means that only the amount completes it.",
  }),
  chainId: z.string().meta({ description: "The id of the chain on which the link is paid." }),
  tokenAddress: z
    .string()
    .meta({ description: "The address of the token in which the link is paid." }),
  ...LinkTexts.shape,
});
export type WebhookLink = z.output<typeof WebhookLink>;

const dataDescription = "The state of the link when this attempt is sent.";

const envelopeFields = {
  id: z.string().meta({
    description: "The id of the event, as in the header. Use it to detect repeated webhooks.",
  }),
  createdAt: wireInstant.meta({
    description: "When the payment was applied, not when the webhook was sent.",
  }),
};

/**
 * The body of a delivery by event type (rule HOOK-8). `data` is the state of the link when the
 * delivery is sent.
 */
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
  "payment_link.transaction.unapplied": z
    .object({
      ...envelopeFields,
      createdAt: wireInstant.meta({
        description: "When it was decided that the payment does not count.",
      }),
      type: z.literal("payment_link.transaction.unapplied"),
      data: WebhookLink.extend({
        status: LinkStatus.meta({
          description: "The current status. The payment did not change it.",
        }),
        transaction: UnappliedWebhookTransaction,
      }).meta({ description: dataDescription }),
    })
    .meta({ id: "TransactionUnappliedWebhook" }),
} as const satisfies Record<WebhookType, z.ZodObject>;

/**
 * The fields of every delivery, including those of future event types (rule HOOK-7). A receiver
 * parses these first.
 */
export const AnyWebhook = z
  .object({
    ...envelopeFields,
    type: z.string().meta({
      description: "New types may be added. Ignore a type that you do not know.",
      examples: [...webhookTypes],
    }),
    data: z.record(z.string(), z.unknown()).meta({ description: "Depends on `type`." }),
  })
  .meta({ id: "Webhook" });
