import type { Client } from "pg";

/** The number of days over which the copies are spread. */
const dayCount = 30;

const spreadTimestamp = `now() - (n % ${dayCount * 86_400}) * interval '1 second'`;
const newLinkId = "'plink_7' || lpad(n::text, 25, '0')";
const newPaymentId = "'tx_7' || lpad(n::text, 25, '0')";

/**
 * For each table that grows with payments, the columns whose values differ between the copies, as
 * SQL expressions of `n`. The other columns are copied unchanged from the row that the services
 * wrote.
 */
const tables: Record<string, { where: string; overrides: Record<string, string> }> = {
  "links_api.links": {
    where: "id = $1",
    overrides: {
      id: newLinkId,
      // Every third link is unpaid. Half of the unpaid links have an expiration.
      status: "CASE WHEN n % 3 = 0 THEN 'active' ELSE 'completed' END",
      expires_at: "CASE WHEN n % 6 = 0 THEN now() + interval '30 days' END",
      created_at: spreadTimestamp,
      payment_reference: "left(md5(n::text), 16)",
    },
  },
  "links_api.payments": {
    where: "link_id = $1",
    overrides: {
      id: newPaymentId,
      link_id: newLinkId,
      source_id: "'g' || n",
      source_transaction: "'0x' || md5(n::text)",
      first_seen_at: spreadTimestamp,
      applied_at: spreadTimestamp,
      ended_at: spreadTimestamp,
    },
  },
  "settlement_listener.links": {
    where: "id = $1",
    overrides: {
      id: newLinkId,
      payment_reference: "left(md5(n::text), 16)",
      payment_reference_hash: "'0x' || md5(n::text) || md5('h' || n)",
    },
  },
  "settlement_listener.payments": {
    where: "payment_link_id = $1",
    overrides: { id: newPaymentId, payment_link_id: newLinkId, source_id: "'g' || n" },
  },
  "webhook_dispatcher.links": { where: "id = $1", overrides: { id: newLinkId } },
  "webhook_dispatcher.delivery_log": {
    where: "link_id = $1",
    overrides: {
      id: "'dlv_7' || lpad(n::text, 25, '0')",
      event_id: "event_id || n",
      link_id: newLinkId,
      date_created: spreadTimestamp,
      last_attempt_at: spreadTimestamp,
      occurred_on: `(${spreadTimestamp})::date`,
    },
  },
};

/**
 * Inserts copies of a row, numbered from 1 to `count`. `overrides` are SQL expressions of the
 * number `n` and of the columns of the row.
 */
export const copyRow = async (
  admin: Client,
  table: string,
  { id, overrides, where }: { id: string; where: string; overrides: Record<string, string> },
  count: number,
): Promise<void> => {
  const { rows } = await admin.query<{ names: string[] }>(
    `SELECT array_agg(attname::text) AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''`,
    [table],
  );
  const names = rows[0]?.names ?? [];
  const columns = names.map((name) => `"${name}"`).join(", ");
  const values = names.map((name) => overrides[name] ?? `"${name}"`).join(", ");
  // If several rows match, one of them is sufficient. It does not matter which event it is for.
  const { rowCount } = await admin.query(
    `INSERT INTO ${table} (${columns})
     SELECT ${values} FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS seed,
       generate_series(1, ${count}) AS n`,
    [id],
  );
  if (rowCount !== count) throw new Error(`${table} grew by ${String(rowCount)} rows`);
};

/** Copies one link, its payment and its delivery. */
export const copyLink = async (admin: Client, id: string, count: number): Promise<void> => {
  await admin.query(
    `SELECT webhook_dispatcher.keep_delivery_log(
       (now() AT TIME ZONE 'UTC')::date - n, ${dayCount} + n) FROM generate_series(0, ${dayCount}) AS n`,
  );
  for (const [table, row] of Object.entries(tables)) {
    await copyRow(admin, table, { id, ...row }, count);
  }
  await admin.query("VACUUM ANALYZE");
};
