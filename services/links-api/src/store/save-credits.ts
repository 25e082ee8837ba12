import { sql } from "slonik";
import * as z from "zod";
import { type OutgoingEvent, toOutboxRow } from "@payment-links/bus";
import { VoidRow, type Transaction, defineTable } from "@payment-links/postgres";
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
  await tx.query(sql.prepared("keep_credits", VoidRow)`
    WITH paid AS (${buildPaymentsUpsert(payments)}), credited AS (${buildLinksUpdate(links)})
    INSERT INTO outbox (${outbox.names}) ${outbox.rows(events.map(toOutboxRow))}
  `);
};

const OutboxRow = z.object({
  id: z.string(),
  topic: z.string(),
  key: z.string(),
  type: z.string(),
  occurredAt: z.string(),
  traceparent: z.string().nullable(),
  value: z.string(),
});
const outbox = defineTable(OutboxRow, { types: { occurredAt: "timestamptz" } });
