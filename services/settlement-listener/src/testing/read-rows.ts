import * as z from "zod";
import { sql } from "slonik";
import type { Pool } from "@payment-links/postgres";

const EventRow = z.object({ type: z.string(), key: z.string(), value: z.string() });
const PaymentRow = z.object({
  id: z.string(),
  version: z.int(),
  status: z.string(),
  amount: z.string(),
  paymentLinkId: z.string(),
  firstSeenAt: z.date(),
});

/** Returns the outbox events of a link or payment in the order of publication. */
export const readEvents = async (pool: Pool, linkId: string) => {
  const rows = await pool.any(sql.type(EventRow)`
    SELECT type, key, value FROM outbox WHERE key = ${linkId} ORDER BY seq
  `);
  return rows.map((row) => ({ type: row.type, data: JSON.parse(row.value) }));
};

/**
 * Returns the stored rows of a provider's payment. If there is more than one, the payment was
 * duplicated.
 */
export const readPayments = (pool: Pool, sourceId: string) =>
  pool.any(sql.type(PaymentRow)`
    SELECT id, version, status, amount, payment_link_id AS "paymentLinkId",
           first_seen_at AS "firstSeenAt"
    FROM payments WHERE source_id = ${sourceId}
  `);
