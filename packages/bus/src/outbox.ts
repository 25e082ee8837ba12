import * as z from "zod";
import { type CommonQueryMethods, sql } from "slonik";
import { type EventType, newId } from "@payment-links/contracts";
import { activeTraceparent } from "@payment-links/runtime";

/**
 * An event that is about to become true: `key` is the thing's id, which keeps its events in order.
 */
export type OutgoingEvent<Event extends EventType = EventType> = {
  event: Event;
  key: string;
  occurredAt: Date;
  data: z.output<Event["data"]>;
};

/** Pairs an event type with its data, so that the compiler holds them against each other. */
export const outgoing = <Event extends EventType>(
  event: Event,
  rest: Omit<OutgoingEvent<Event>, "event">,
): OutgoingEvent<Event> => ({ event, ...rest });

/**
 * The `INSERT` that writes events to the outbox, for use alone or as one step of a larger
 * statement. The thing's own row must be locked before, so that its events get their numbers in
 * order.
 */
export const outboxInsert = (events: readonly OutgoingEvent[]) => {
  const traceparent = activeTraceparent() ?? null;
  const rows = events.map(
    ({ event, key, occurredAt, data }) => sql.fragment`(
      ${newId("evt")}, ${event.topic}, ${key}, ${event.type}, ${sql.timestamp(occurredAt)},
      ${traceparent}, ${JSON.stringify(z.encode(event.data, data))}
    )`,
  );
  return sql.fragment`
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    VALUES ${sql.join(rows, sql.fragment`, `)}
  `;
};

const nothing = sql.type(z.object({}).strict());

/** Writes events in the transaction that makes them true; the relay carries them on after it. */
export const publish = async (
  tx: CommonQueryMethods,
  events: readonly OutgoingEvent[],
): Promise<void> => {
  if (events.length === 0) return;
  await tx.query(nothing`${outboxInsert(events)}`);
};
