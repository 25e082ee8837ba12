import * as z from "zod";
import { sql } from "slonik";
import { type EventType, newId } from "@payment-links/contracts";
import { type Db, VoidRow, defineTable } from "@payment-links/postgres";
import { getActiveTraceparent } from "@payment-links/runtime";

/** An event to publish. `key` is the id of the resource. Events with the same key stay in order. */
export type OutgoingEvent<Event extends EventType = EventType> = {
  event: Event;
  key: string;
  occurredAt: Date;
  data: z.output<Event["data"]>;
  /**
   * Must be derived from the identity of the fact if a restored service may publish that fact
   * again. Consumers then recognize the repeated event by its id. Default: a random id.
   */
  id?: string;
  /** The trace (W3C `traceparent`) that the event continues. Default: the active trace. */
  traceparent?: string | undefined;
};

/** Pairs an event type with its data, so that the compiler checks them together. */
export const createOutgoingEvent = <Event extends EventType>(
  event: Event,
  fields: Omit<OutgoingEvent<Event>, "event">,
): OutgoingEvent<Event> => ({ event, ...fields });

const OutboxRow = z.object({
  id: z.string(),
  topic: z.string(),
  key: z.string(),
  type: z.string(),
  occurredAt: z.string(),
  traceparent: z.string().nullable(),
  value: z.string(),
});
export type OutboxRow = z.output<typeof OutboxRow>;
const outbox = defineTable(OutboxRow, { types: { occurredAt: "timestamptz" } });

/**
 * Converts an event to its outbox row. {@link publish} inserts such rows. A statement that writes a
 * resource and its events together contains {@link buildOutboxInsert} or the row's values. The transaction must first lock
 * the resource's row, so that the events of the resource are numbered in order (rule KEEP-4).
 */
export const toOutboxRow = ({
  event,
  key,
  occurredAt,
  data,
  id,
  traceparent = getActiveTraceparent(),
}: OutgoingEvent): OutboxRow => {
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
 * Returns the number of outbox rows that this process has created. If a transaction did not change
 * the number, it wrote no events, and the relay does not need to be woken.
 */
export const getCreatedOutboxRowCount = (): number => createdRowCount;

/** Builds the `INSERT` of events, in order, for a statement that also changes their resources. */
export const buildOutboxInsert = (events: readonly OutgoingEvent[]) => sql.fragment`
  INSERT INTO outbox (${outbox.names}) ${outbox.rows(events.map(toOutboxRow))}
`;

/**
 * Writes events, in order, in the transaction that changes the data. The relay sends them after the
 * commit.
 */
export const publish = (tx: Db, events: readonly OutgoingEvent[]): Promise<void> =>
  insertOutboxRows(tx, events.map(toOutboxRow));

/**
 * Inserts prepared outbox rows, like {@link publish}. Uses one statement with one parameter per
 * column, regardless of the number of rows. The values are joined with line breaks, because JSON
 * does not contain any, whereas an array would need to escape every quote.
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
