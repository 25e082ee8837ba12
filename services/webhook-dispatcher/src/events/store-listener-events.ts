import { type WebhookType, createDeterministicId } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { StoredTransaction } from "../domain/attempt.ts";
import {
  type LockedListener,
  type NewListenerEvent,
  insertListenerEvents,
  lockListeners,
} from "../store/listeners.ts";

/** What decides whether an endpoint or a listener gets an event of its account. */
export type Receiver = Pick<LockedListener, "dateCreated" | "mode">;

/** An event of an account, before it is addressed to a receiver. */
export type AccountEvent = {
  userId: string;
  eventId: string;
  linkId: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: StoredTransaction | null;
  isDueTo: (receiver: Receiver) => boolean;
};

type ListenerEventsOptions = {
  userIds: readonly string[];
  now: Date;
  /** Called only if one of the accounts has a listener. */
  listEvents: () => readonly AccountEvent[];
};

/**
 * Stores events for the listeners of their accounts, in the transaction that creates the
 * deliveries (rule HOOK-22). Returns whether there were any. Without listeners, this is one lookup.
 */
export const storeListenerEvents = async (
  tx: Transaction,
  { userIds, now, listEvents }: ListenerEventsOptions,
): Promise<boolean> => {
  const listeners = await lockListeners(tx, userIds, now);
  if (listeners.length === 0) return false;
  const events = listEvents();
  const listenerEvents = listeners.flatMap((listener) => addressEvents(events, listener));
  await insertListenerEvents(tx, listenerEvents);
  return listenerEvents.length > 0;
};

const addressEvents = (
  events: readonly AccountEvent[],
  listener: LockedListener,
): NewListenerEvent[] => {
  const { id: listenerId, lastNumber, userId } = listener;
  return events
    .filter((event) => event.userId === userId && event.isDueTo(listener))
    .map((event, index) => ({
      ...event,
      listenerId,
      number: lastNumber + index + 1,
      id: createDeterministicId("evt", [event.eventId, listenerId]),
    }));
};
