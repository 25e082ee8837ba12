import {
  type WebhookBody,
  type WebhookTransaction,
  type WebhookType,
  formatAmount,
  stringifySorted,
} from "@payment-links/contracts";
import type * as z from "zod";
import { type Link, statusAt } from "./link.ts";

/** What stays the same on every attempt of a delivery. */
export type WebhookEvent = {
  id: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: z.output<typeof WebhookTransaction> | null;
};

/**
 * Writes the body of one attempt: compact, keys sorted, `data` the link's state at send time
 * (spec §6.3).
 */
export const writeWebhookBody = (event: WebhookEvent, link: Link, now: Date): string => {
  const body: WebhookBody = {
    id: event.id,
    type: event.eventType,
    createdAt: event.occurredAt.toISOString(),
    data: {
      paymentLinkId: link.id,
      status: statusAt(link, now),
      amount: formatAmount(link.toAmount),
      receivedAmount: formatAmount(link.receivedAmount),
      currentUsage: link.currentUsage,
      maxUsage: link.maxUsage,
      chainId: link.chainId,
      tokenAddress: link.tokenAddress,
      description: link.description,
      ...(event.transaction === null ? {} : { transaction: event.transaction }),
    },
  };
  return stringifySorted(body);
};
