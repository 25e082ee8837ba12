import * as z from "zod";
import { LinkStatus, PaymentStatus } from "./events.ts";

/** The event types that become webhooks (spec §6.2). */
export const webhookTypes = [
  "payment_link.transaction.succeeded",
  "payment_link.completed",
] as const;
export type WebhookType = (typeof webhookTypes)[number];

const wireInstant = z.string().meta({ format: "date-time" });

/** spec §6.3 `data.transaction` */
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

/** spec §6.3: the body of a delivery. `data` is the link's state at send time. */
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
      description: z.string().nullable(),
      transaction: WebhookTransaction.optional(),
    }),
  })
  .meta({ id: "WebhookBody" });
export type WebhookBody = z.output<typeof WebhookBody>;
