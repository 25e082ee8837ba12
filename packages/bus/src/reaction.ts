import type * as z from "zod";
import type { DatabaseTransactionConnection } from "slonik";
import type { EventType } from "@payment-links/contracts";

/** What a handler is told of an event besides its data. */
export type Envelope = {
  /** The event's id, the same at every redelivery. */
  id: string;
  type: string;
  key: string;
  occurredAt: Date;
};

/**
 * Applies one event within the transaction that also records its id in the inbox. It may run more
 * than once for an event (the transaction is retried), so it touches nothing but that transaction.
 */
export type EventHandler<Event extends EventType = EventType> = (
  tx: DatabaseTransactionConnection,
  data: z.output<Event["data"]>,
  envelope: Envelope,
) => Promise<void>;

/** An event type with the handler that applies it. */
export type Reaction = { event: EventType; apply: EventHandler };

/** Pairs an event type with its handler, so that the compiler holds them against each other. */
export const on = <Event extends EventType>(
  event: Event,
  apply: EventHandler<Event>,
): Reaction => ({ event, apply });
