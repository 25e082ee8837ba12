import * as z from "zod";
import { sql } from "slonik";
import { type EventType, newId } from "@payment-links/contracts";
import { type Db, VoidRow } from "@payment-links/postgres";
import { getActiveTraceparent } from "@payment-links/runtime";

/**
 * An event that is about to become true: `key` is the thing's id, which keeps its events in order.
 */
export type OutgoingEvent<Event extends EventType = EventType> = {
  event: Event;
  key: string;
  occurredAt: Date;
  data: z.output<Event["data"]>;
  /**
   * Made of what names the fact, where a service that was restored may come to tell it again: then
   * it is known by its id. Drawn if left out.
   */
  id?: string;
  /** The trace (W3C) that it continues: of many events told at once, each its own. The active one if left out. */
  traceparent?: string | undefined;
};

/** Pairs an event type with its data, so that the compiler checks them together. */
export const createOutgoingEvent = <Event extends EventType>(
  event: Event,
  fields: Omit<OutgoingEvent<Event>, "event">,
): OutgoingEvent<Event> => ({ event, ...fields });

/**
 * An event as its row in the outbox. {@link publish} writes such rows; a statement that writes a
 * new thing and its event at once takes the row's values itself. The thing's own row must be locked
 * first, so that its events get their numbers in order (rule KEEP-4).
 */
export const toOutboxRow = ({
  event,
  key,
  occurredAt,
  data,
  id,
  traceparent = getActiveTraceparent(),
}: OutgoingEvent) => {
  createdRowCount += 1;
  return {
    id: id ?? newId("evt"),
    topic: event.topic,
    key,
    type: event.type,
    occurredAt: occurredAt.toISOString(),
    traceparent: traceparent ?? null,
    value: JSON.stringify(z.encode(event.data, data)),
  };
};

let createdRowCount = 0;

/**
 * How many rows for the outbox this process has made so far. Work that finds it as it was before has
 * written none, so that nobody need look for them.
 */
export const getCreatedOutboxRowCount = (): number => createdRowCount;

export type OutboxRow = ReturnType<typeof toOutboxRow>;

/**
 * Writes events, in their order, in the transaction that makes them true; the relay carries them on
 * after it.
 */
export const publish = (tx: Db, events: readonly OutgoingEvent[]): Promise<void> =>
  insertOutboxRows(tx, events.map(toOutboxRow));

/**
 * As {@link publish}, of rows that are made already. However many they are, it is one statement with
 * one parameter per column. The values are one text, a line each: JSON holds no line break, and an
 * array would escape every quote of it.
 */
export const insertOutboxRows = async (tx: Db, rows: readonly OutboxRow[]): Promise<void> => {
  if (rows.length === 0) return;
  const values = rows.map(({ value }) => value).join("\n");
  await tx.query(sql.prepared("publish_events", VoidRow)`
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    SELECT * FROM ROWS FROM (
      ${sql.unnest(rows.map(toColumns), columnTypes)}, string_to_table(${values}, chr(10))
    )
  `);
};

const columnTypes = ["text", "text", "text", "text", "timestamptz", "text"];

const toColumns = ({ id, topic, key, type, occurredAt, traceparent }: OutboxRow) => [
  id,
  topic,
  key,
  type,
  occurredAt,
  traceparent,
];
