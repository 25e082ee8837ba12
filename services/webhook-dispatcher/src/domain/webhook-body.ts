import {
  type WebhookLink,
  type WebhookTransaction,
  type WebhookType,
  formatAmount,
  pickLinkTexts,
} from "@payment-links/contracts";
import { type Link, statusAt } from "./link.ts";

/** What stays the same on every attempt of a delivery. */
export type WebhookEvent = {
  id: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: WebhookTransaction | null;
};

type WebhookBody = {
  id: string;
  type: WebhookType;
  createdAt: string;
  data: WebhookLink & { transaction?: WebhookTransaction };
};

/**
 * Writes the body of one attempt: compact, keys sorted, `data` the link's state at send time
 * (rule HOOK-8). Other keys stand here in their order.
 */
export const serializeWebhookBody = (event: WebhookEvent, link: Link, now: Date): string => {
  const body: WebhookBody = {
    createdAt: event.occurredAt.toISOString(),
    data: sortKeys({
      amount: formatAmount(link.toAmount),
      chainId: link.chainId,
      currentUsage: link.currentUsage,
      ...pickLinkTexts(link),
      maxUsage: link.maxUsage,
      paymentLinkId: link.id,
      receivedAmount: formatAmount(link.receivedAmount),
      status: statusAt(link, now),
      tokenAddress: link.tokenAddress,
      ...(event.transaction === null
        ? {}
        : { transaction: serializeTransaction(event.transaction) }),
    }),
    id: event.id,
    type: event.eventType,
  };
  return JSON.stringify(body);
};

const serializeTransaction = (transaction: NonNullable<WebhookEvent["transaction"]>) => ({
  amount: transaction.amount,
  chainId: transaction.chainId,
  dateCreated: transaction.dateCreated,
  id: transaction.id,
  sourceTransaction: transaction.sourceTransaction,
  status: transaction.status,
  tokenAddress: transaction.tokenAddress,
});

/**
 * Sorts the keys that are not in order yet. Mostly they are, and an object that is made anew costs a
 * third of the whole body, on every attempt of every delivery.
 */
const sortKeys = <Fields extends object>(fields: Fields): Fields => {
  const keys = Object.keys(fields);
  if (keys.every((key, index) => key > (keys[index - 1] ?? ""))) return fields;
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) as Fields;
};
