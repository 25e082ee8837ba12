import { sql } from "slonik";
import { type OutgoingEvent, toOutboxRow } from "@payment-links/bus";
import { VoidRow, type Transaction, createUntypedRecordset } from "@payment-links/postgres";
import type { Link } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import { buildLinksUpdate } from "./links.ts";
import { buildPaymentsUpsert } from "./payments.ts";

/**
 * The result of processing payments: the new states of the payments, the new states of the links
 * that changed, and the events to publish.
 */
type Credits = {
  payments: readonly Payment[];
  links: readonly Link[];
  events: readonly OutgoingEvent[];
};

/**
 * Stores payments, their links and their events in one statement, which saves two round trips. The
 * events are published in the given order. The links' rows must be locked by this transaction.
 */
export const saveCredits = async (
  tx: Transaction,
  { payments, links, events }: Credits,
): Promise<void> => {
  const eventRows = events.map((event) => {
    const { id, topic, key, type, occurredAt, traceparent, value } = toOutboxRow(event);
    return [id, topic, key, type, occurredAt, traceparent, value];
  });
  await tx.query(sql.prepared("keep_credits", VoidRow)`
    WITH paid AS (${buildPaymentsUpsert(payments)}), credited AS (${buildLinksUpdate(links)})
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    ${outboxRows(eventRows)}
  `);
};

const outboxRows = createUntypedRecordset([
  "text",
  "text",
  "text",
  "text",
  "timestamptz",
  "text",
  "text",
]);
