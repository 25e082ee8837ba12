import {
  type WebhookLink,
  type WebhookType,
  formatAmount,
  pickLinkTexts,
} from "@payment-links/contracts";
import type { Delivery, StoredTransaction } from "./attempt.ts";
import { type Link, statusAt } from "./link.ts";

/** The parts that are the same in every attempt of a delivery. */
export type WebhookEvent = Pick<Delivery, "id" | "eventType" | "occurredAt" | "transaction">;

type WebhookBody = {
  id: string;
  type: WebhookType;
  createdAt: string;
  data: WebhookLink & { transaction?: StoredTransaction };
};

/**
 * Serializes the body of one attempt as compact JSON with sorted keys. `data` contains the link's
 * state at send time (rule HOOK-8). The keys in this function are already in order.
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
  ...(transaction.reason === undefined ? {} : { reason: transaction.reason }),
  sourceTransaction: transaction.sourceTransaction,
  status: transaction.status,
  tokenAddress: transaction.tokenAddress,
});

/**
 * Sorts the keys unless they are already sorted, which is the usual case. Creating a new object
 * would cost a third of the time for the whole body, in every attempt of every delivery.
 */
const sortKeys = <Fields extends object>(fields: Fields): Fields => {
  const keys = Object.keys(fields);
  if (keys.every((key, index) => key > (keys[index - 1] ?? ""))) return fields;
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) as Fields;
};
