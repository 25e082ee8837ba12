import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";

/**
 * The key of a completed delivery in the log: the day of its event, the event id and the endpoint
 * id.
 */
export type LogKey = { eventId: string; endpointId: string; occurredAt: Date };

/** Returns the UTC day by which the log is partitioned. */
export const toUtcDay = (instant: Date): string => instant.toISOString().slice(0, 10);

/**
 * Returns the condition on the endpoint for a lookup of one event's few rows. The expression
 * `endpoint_id || ''` keeps the planner from using an index by endpoint. While a table is small,
 * that index seems as good as the one by event. A cached generic plan with that index would later
 * read all rows of an endpoint.
 */
export const matchesEndpoint = (tableAlias: FragmentSqlToken): FragmentSqlToken => sql.fragment`
  endpoint_id || '' = ${tableAlias}.endpoint_id
`;

/**
 * Corrects log entries whose last attempt is recorded as failed although it got a 2xx. An entry
 * with a later attempt stays unchanged.
 */
export const correctToDelivered = async (
  tx: Transaction,
  results: readonly (LogKey & {
    attempts: number;
    startedAt: Date;
    httpStatus: number | null;
    durationMs: number | null;
    sentBody: string | null;
  })[],
): Promise<void> => {
  for (const result of results) {
    const { eventId, endpointId, occurredAt, attempts, startedAt, sentBody } = result;
    await tx.query(sqlVoid`
      UPDATE delivery_log
      SET status = 'Delivered', http_status = ${result.httpStatus}, error = NULL,
          last_attempt_at = ${sql.timestamp(startedAt)}, duration_ms = ${result.durationMs},
          sent_body = ${sentBody}
      WHERE event_id = ${eventId} AND endpoint_id = ${endpointId}
        AND occurred_on = ${toUtcDay(occurredAt)}::date AND attempts = ${attempts}
    `);
  }
};

/**
 * The maximum number of rows deleted per run. These rows belong to days that never had a partition,
 * so there are few.
 */
const deletedRowsMax = 5_000;

/**
 * Creates the log's partitions for the coming days, and drops those of events older than
 * `retentionDays`. Also deletes rows outside of all daily partitions if they were created more than
 * `retentionDays` ago. Returns whether more of these rows may remain. Pending deliveries are not in
 * the log, so they are never dropped.
 */
export const maintainDeliveryLog = async (
  pool: Db,
  { now, retentionDays }: { now: Date; retentionDays: number },
): Promise<boolean> => {
  const today = toUtcDay(now);
  await pool.query(sql.type(z.object({ done: z.unknown() }))`
    SELECT keep_delivery_log(${today}::date, ${retentionDays}) AS done
  `);
  const { rowCount } = await pool.query(sqlVoid`
    DELETE FROM delivery_log_other WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM delivery_log_other
      WHERE occurred_on < ${today}::date - ${retentionDays}::int
        AND date_created < (${today}::date - ${retentionDays}::int)::timestamp AT TIME ZONE 'utc'
      LIMIT ${deletedRowsMax}
    ))
  `);
  return rowCount === deletedRowsMax;
};
