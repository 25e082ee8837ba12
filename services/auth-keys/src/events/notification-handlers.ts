import { type Envelope, type RegisteredHandler, on } from "@payment-links/bus";
import {
  depositUnmatched,
  endpointFailing,
  paymentNotApplied,
  paymentReceived,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { isExpired } from "../domain/email.ts";
import { describeMoney } from "../domain/email-content.ts";
import { type Notification, queueNotification } from "../store/emails.ts";

type HandlerDependencies = Pick<Dependencies, "catalogue" | "clock" | "sendEmail">;

/** Returns the handlers that queue emails about the events of other services. */
export const createNotificationHandlers = (
  dependencies: HandlerDependencies,
): readonly RegisteredHandler[] => {
  const { catalogue } = dependencies;
  const queue = createQueue(dependencies);
  return [
    on(paymentReceived, (tx, data, envelope) => {
      const { accountId, description, isLinkCompleted, linkId } = data;
      const money = describeMoney(catalogue, data);
      const linkFields = { linkId, description, isLinkCompleted };
      const content = { type: "payment_received", ...money, ...linkFields } as const;
      return queue(tx, envelope, { accountId, kind: "payment_received", content });
    }),
    on(paymentNotApplied, (tx, data, envelope) => {
      const { accountId, description, linkId, reason } = data;
      const money = describeMoney(catalogue, data);
      const linkFields = { linkId, description, reason };
      const content = { type: "payment_not_applied", ...money, ...linkFields } as const;
      return queue(tx, envelope, { accountId, kind: "attention_needed", content });
    }),
    on(depositUnmatched, (tx, data, envelope) => {
      const content = { type: "deposit_unmatched", ...describeMoney(catalogue, data) } as const;
      return queue(tx, envelope, { accountId: data.accountId, kind: "attention_needed", content });
    }),
    on(endpointFailing, (tx, { accountId, endpointId, name }, envelope) => {
      const content = { type: "endpoint_failing", endpointId, name } as const;
      return queue(tx, envelope, { accountId, kind: "endpoint_failing", content });
    }),
  ];
};

/**
 * Returns a function that queues an email. It ignores events that are older than a day, for example
 * if the topic is read again from its beginning: their rows in the queue may have been deleted, so a
 * repeat would not be recognized.
 */
const createQueue =
  ({ clock, sendEmail }: HandlerDependencies) =>
  async (
    tx: Transaction,
    { id, occurredAt }: Envelope,
    notification: Omit<Notification, "id">,
  ): Promise<void> => {
    const now = clock.now();
    if (sendEmail === undefined || isExpired({ dateCreated: occurredAt }, now)) return;
    await queueNotification(tx, { id, ...notification }, now);
  };
