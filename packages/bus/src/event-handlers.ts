import type * as z from "zod";
import type { EventType } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";

/** What a handler is told of an event besides its data. */
export type Envelope = {
  /** The event's id, the same at every redelivery. */
  id: string;
  type: string;
  key: string;
  occurredAt: Date;
};

/**
 * Applies one event within the transaction that also moves the group's position. It may run more
 * than once for an event (the transaction is retried), so it touches nothing but that transaction.
 * An event may also come again after newer ones (its sender sends again what it cannot know to be
 * kept, a restored sender tells it anew): then it changes nothing.
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
  /** The event's own trace (W3C), if it was traced. */
  traceparent: string | undefined;
};

/** What a handler wants done once its transaction is committed. Dropped if it is not committed. */
export type AfterCommitHook = () => void;

/**
 * Applies events that follow one another, in order, under the terms of an {@link EventHandler}. If
 * it fails, it gets fewer of them, in the end each alone, so that only the one at fault is set aside.
 */
export type ChunkHandler<Event extends EventType = EventType> = (
  tx: Transaction,
  events: readonly ChunkEvent<Event>[],
) => Promise<AfterCommitHook | void>;

/** An event type with the handler that applies it, alone or with those around it. */
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
 * Pairs event types with one handler that applies them together, in a few statements for many
 * events.
 */
export const onChunk = <Event extends EventType>(
  events: readonly Event[],
  applyChunk: ChunkHandler<Event>,
): RegisteredHandler[] => events.map((event) => ({ event, applyChunk }));
