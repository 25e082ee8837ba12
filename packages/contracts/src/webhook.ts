import * as z from "zod";
import { LinkStatus, PaymentStatus } from "./events.ts";
import { LinkTexts } from "./link-texts.ts";

/** The event types that become webhooks (rule HOOK-7). */
export const webhookTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
] as const;
export type WebhookType = (typeof webhookTypes)[number];

const wireInstant = z.string().meta({ format: "date-time" });

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

/** The body of a delivery (rule HOOK-8). */
export const WebhookBody = z
  .object({
    id: z.string(),
    type: z.enum(webhookTypes),
    createdAt: wireInstant,
    data: z.object({
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
      transaction: WebhookTransaction.optional(),
    }),
  })
  .meta({ id: "WebhookBody" });
export type WebhookBody = z.output<typeof WebhookBody>;
