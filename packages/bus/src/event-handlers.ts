import type * as z from "zod";
import type { EventType } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";

/** The attributes of an event besides its data. */
export type Envelope = {
  /** The event's id, identical on every redelivery. */
  id: string;
  type: string;
  key: string;
  occurredAt: Date;
};

/**
 * Applies one event in the transaction that also advances the group's position. The handler can run
 * more than once per event because transactions are retried, so all its side effects must be in
 * that transaction.
 *
 * An event can also be redelivered after newer events: a sender repeats events that may not have
 * been stored, and a restored sender publishes its events again. In that case the handler must not
 * change anything.
 */
export type EventHandler<Event extends EventType = EventType> = (
  tx: Transaction,
  data: z.output<Event["data"]>,
  envelope: Envelope,
) => Promise<void>;

/** One of several events that are applied together. */
export type ChunkEvent<Event extends EventType = EventType> = {
  data: z.output<Event["data"]>;
  envelope: Envelope;
  /** The event's own trace (W3C `traceparent`), if it was traced. */
  traceparent: string | undefined;
};

/**
 * Applies consecutive events in order, under the same rules as {@link EventHandler}. If it fails,
 * it is retried with fewer events, down to one, so that only the failing event is dead-lettered.
 */
export type ChunkHandler<Event extends EventType = EventType> = (
  tx: Transaction,
  events: readonly ChunkEvent<Event>[],
) => Promise<void>;

/** An event type with its handler, which applies events one by one or in chunks. */
export type RegisteredHandler = { event: EventType } & (
  | { apply: EventHandler }
  | { applyChunk: ChunkHandler }
);

/** Pairs an event type with its handler, so that the compiler checks them together. */
export const on = <Event extends EventType>(
  event: Event,
  apply: EventHandler<Event>,
): RegisteredHandler => ({
  event,
  apply,
});

/**
 * Pairs event types with one handler that applies their events together, using few SQL statements.
 */
export const onChunk = <Event extends EventType>(
  events: readonly Event[],
  applyChunk: ChunkHandler<Event>,
): RegisteredHandler[] => events.map((event) => ({ event, applyChunk }));
