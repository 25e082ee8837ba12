import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";

/**
 * Where a delivery that has ended stands in the log: by its event's day, and within the day by
 * event and endpoint.
 */
export type LogKey = { eventId: string; endpointId: string; occurredAt: Date };

/** The day in UTC by which the log is partitioned. */
export const toUtcDay = (instant: Date): string => instant.toISOString().slice(0, 10);

/**
 * Whether a row of an event, among its few, is of the endpoint that `of` names. The column is hidden
 * from the planner: over a small table an index by endpoint looks as good to it as that by event, and
 * by a plan that is kept all of an endpoint's rows are read later on.
 */
export const matchesEndpoint = (tableAlias: FragmentSqlToken): FragmentSqlToken => sql.fragment`
  endpoint_id || '' = ${tableAlias}.endpoint_id
`;

/**
 * Corrects log entries whose last attempt counts as failed, although a 2xx had answered it. An
 * entry that has a later attempt is left as it is.
 */
export const correctToDelivered = async (
  tx: Transaction,
  results: readonly (LogKey & {
    attempts: number;
    httpStatus: number | null;
    durationMs: number | null;
  })[],
): Promise<void> => {
  for (const { eventId, endpointId, occurredAt, attempts, httpStatus, durationMs } of results) {
    await tx.query(sqlVoid`
      UPDATE delivery_log
      SET status = 'Delivered', http_status = ${httpStatus}, error = NULL,
          duration_ms = ${durationMs}
      WHERE event_id = ${eventId} AND endpoint_id = ${endpointId}
        AND occurred_on = ${toUtcDay(occurredAt)}::date AND attempts = ${attempts}
    `);
  }
};

/** Rows deleted in one run: those of days that never had a partition, so there are few. */
const deletedRowsMax = 5_000;

/**
 * Makes the log's partitions for the coming days, and drops those of events more than `retentionDays`
 * ago. Rows that lie in no day's partition are deleted once they were opened that long ago. Answers
 * whether more of those may be left. Pending deliveries are not in the log, and are never dropped.
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
