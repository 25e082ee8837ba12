import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";

/**
 * Where a delivery that has ended stands in the log: by its event's day, and within the day by
 * event and endpoint.
 */
export type LogPlace = { eventId: string; endpointId: string; occurredAt: Date };

/** The day in UTC by which the log is partitioned. */
export const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10);

/**
 * Whether a row of an event, among its few, is of the endpoint that `of` names. The column is hidden
 * from the planner: over a small table an index by endpoint looks as good to it as that by event, and
 * by a plan that is kept all of an endpoint's rows are read later on.
 */
export const ofEndpoint = (of: FragmentSqlToken): FragmentSqlToken => sql.fragment`
  endpoint_id || '' = ${of}.endpoint_id
`;

/**
 * Corrects log entries whose last attempt counts as failed, although a 2xx had answered it. An
 * entry that has a later attempt is left as it is.
 */
export const correctToDelivered = async (
  tx: Transaction,
  results: readonly (LogPlace & {
    attempts: number;
    httpStatus: number | null;
    durationMs: number | null;
  })[],
): Promise<void> => {
  for (const { eventId, endpointId, occurredAt, attempts, httpStatus, durationMs } of results) {
    await tx.query(nothing`
      UPDATE delivery_log
      SET status = 'Delivered', http_status = ${httpStatus}, error = NULL,
          duration_ms = ${durationMs}
      WHERE event_id = ${eventId} AND endpoint_id = ${endpointId}
        AND occurred_on = ${dayOf(occurredAt)}::date AND attempts = ${attempts}
    `);
  }
};

/** Rows deleted in one run: those of days that never had a partition, so there are few. */
const deletedRowsMax = 5_000;

/**
 * Makes the log's partitions for the coming days, and drops those of events more than `keptDays`
 * ago. Rows that lie in no day's partition are deleted once they were opened that long ago. Answers
 * whether more of those may be left. Pending deliveries are not in the log, and are never dropped.
 */
export const keepDeliveryLog = async (
  pool: Db,
  { now, keptDays }: { now: Date; keptDays: number },
): Promise<boolean> => {
  const today = dayOf(now);
  await pool.query(sql.type(z.object({ done: z.unknown() }))`
    SELECT keep_delivery_log(${today}::date, ${keptDays}) AS done
  `);
  const { rowCount } = await pool.query(nothing`
    DELETE FROM delivery_log_other WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM delivery_log_other
      WHERE occurred_on < ${today}::date - ${keptDays}::int
        AND date_created < (${today}::date - ${keptDays}::int)::timestamp AT TIME ZONE 'utc'
      LIMIT ${deletedRowsMax}
    ))
  `);
  return rowCount === deletedRowsMax;
};
