import { type Mode, type WebhookType, createDeterministicId } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { StoredTransaction } from "../domain/attempt.ts";
import {
  type LockedListener,
  type NewListenerEvent,
  insertListenerEvents,
  lockListeners,
} from "../store/listeners.ts";

/** An event of an account, before it is addressed to a receiver. */
export type AccountEvent = {
  userId: string;
  mode: Mode;
  eventId: string;
  linkId: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: StoredTransaction | null;
  /** Returns whether a receiver that was created at this time gets the event. */
  isDueTo: (dateCreated: Date) => boolean;
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
  { id: listenerId, userId, mode, dateCreated, lastNumber }: LockedListener,
): NewListenerEvent[] =>
  events
    .filter((event) => event.userId === userId && event.mode === mode && event.isDueTo(dateCreated))
    .map((event, index) => ({
      ...event,
      listenerId,
      number: lastNumber + index + 1,
      id: createDeterministicId("evt", [event.eventId, listenerId]),
    }));
