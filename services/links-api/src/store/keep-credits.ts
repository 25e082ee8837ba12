import { sql } from "slonik";
import { type OutgoingEvent, outboxRow } from "@payment-links/bus";
import { NothingRow, type Transaction, documentRows } from "@payment-links/postgres";
import type { Link } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import { linksUpdate } from "./links.ts";
import { paymentsUpsert } from "./payments.ts";

/** What came of payments: their new states, those of the links that they changed, and what is told. */
type Credits = {
  payments: readonly Payment[];
  links: readonly Link[];
  events: readonly OutgoingEvent[];
};

/**
 * Keeps payments, their links and the events that tell of them in one statement, where each would
 * cost a round trip; events in their order. The links' rows must be locked by this transaction.
 */
export const keepCredits = async (
  tx: Transaction,
  { payments, links, events }: Credits,
): Promise<void> => {
  const told = events.map((event) => {
    const { id, topic, key, type, occurredAt, traceparent, value } = outboxRow(event);
    return [id, topic, key, type, occurredAt, traceparent, value];
  });
  await tx.query(sql.prepared("keep_credits", NothingRow)`
    WITH paid AS (${paymentsUpsert(payments)}), credited AS (${linksUpdate(links)})
    INSERT INTO outbox (id, topic, key, type, occurred_at, traceparent, value)
    ${toldRows(told)}
  `);
};

const toldRows = documentRows(["text", "text", "text", "text", "timestamptz", "text", "text"]);
