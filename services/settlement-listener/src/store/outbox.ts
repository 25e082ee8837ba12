import { sql } from "slonik";
import { type OutgoingEvent, outboxRow } from "@payment-links/bus";
import { type Transaction, nothing } from "@payment-links/postgres";

/**
 * Writes many events in the transaction that makes them true, in their order: as `publish` of the
 * bus, with one parameter per column instead of seven per event, which is what they would cost.
 */
export const insertEvents = async (
  tx: Transaction,
  events: readonly OutgoingEvent[],
): Promise<void> => {
  if (events.length === 0) return;
  await tx.query(nothing`
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    SELECT * FROM ${sql.unnest(events.map(valuesOf), columnTypes)}
  `);
};

const columnTypes = ["text", "text", "text", "text", "timestamptz", "text", "text"];

const valuesOf = (event: OutgoingEvent) => {
  const { id, topic, key, type, occurredAt, traceparent, value } = outboxRow(event);
  return [id, topic, key, type, occurredAt, traceparent, value];
};
