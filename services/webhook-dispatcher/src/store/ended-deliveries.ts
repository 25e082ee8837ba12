import {
  type Pool,
  type Transaction,
  createJsonRecordset,
  sqlVoid,
  withStatementTimeout,
} from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import type { Attempt } from "../domain/attempt.ts";
import type { AbandonReason, StoredAttempt } from "../domain/delivery.ts";
import { type LogKey, correctToDelivered, matchesEndpoint } from "./delivery-log.ts";

type Fragment = ReturnType<typeof sql.fragment>;

const AttemptRow = z.object({ id: z.string(), attempts: z.int() });
const countRow = sql.type(z.object({ count: z.int() }));

/** The result of an attempt. `nextAttemptAt` is null if no retry follows. */
export type AttemptResult = LogKey & {
  id: string;
  attempts: number;
  startedAt: Date;
  /** Null if the duration is unknown. */
  durationMs: number | null;
  /** Null if the body is unknown. */
  sentBody: string | null;
  isDelivered: boolean;
  httpStatus: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
};

/** Results that were not written. */
type UnwrittenResults = {
  /** Another transaction is changing their rows. They must be recorded again. */
  locked: ReadonlySet<AttemptResult>;
  /** Failures of attempts that are already recorded as interrupted. There is nothing to write. */
  superseded: ReadonlySet<AttemptResult>;
};

type AttemptKey = z.output<typeof AttemptRow>;

/**
 * Records how attempts ended. A delivery that will be retried gives up its lease, and an ended
 * delivery moves to the log. A failure is ignored if its attempt is already recorded as
 * interrupted. A 2xx is recorded at any time until the next attempt starts. Does not wait for
 * locks.
 */
export const recordResults = async (
  tx: Transaction,
  results: readonly AttemptResult[],
): Promise<UnwrittenResults> => {
  const postponed = await postpone(
    tx,
    results.filter(({ isDelivered, nextAttemptAt }) => !isDelivered && nextAttemptAt !== null),
  );
  const { unmatched: notPostponed } = partitionByAttempt(results, postponed);
  const { unmatched: unwritten } = partitionByAttempt(
    notPostponed,
    await moveToLog(tx, notPostponed),
  );
  const { matched: locked, unmatched: lateResults } = partitionByAttempt(
    unwritten,
    await findLockedResults(tx, unwritten),
  );
  await correctToDelivered(
    tx,
    lateResults.filter(({ isDelivered }) => isDelivered),
  );
  const superseded = lateResults.filter(({ isDelivered }) => !isDelivered);
  return { locked: new Set(locked), superseded: new Set(superseded) };
};

/**
 * Partitions results by whether their attempt is in the list. The id of the delivery is not
 * sufficient, because a delayed result can be in the same batch as the result of the next attempt.
 */
const partitionByAttempt = (
  results: readonly AttemptResult[],
  attempts: readonly AttemptKey[],
): { matched: readonly AttemptResult[]; unmatched: readonly AttemptResult[] } => {
  const attemptKeys = new Set(attempts.map(toAttemptKey));
  const isMatched = (result: AttemptResult): boolean => attemptKeys.has(toAttemptKey(result));
  return {
    matched: results.filter(isMatched),
    unmatched: results.filter((result) => !isMatched(result)),
  };
};

const toAttemptKey = ({ id, attempts }: AttemptKey): string => `${id} ${attempts}`;

const ResultRow = z.object({
  eventId: z.string(),
  endpointId: z.string(),
  attempts: z.int(),
  startedAt: z.date(),
  sentBody: z.string().nullable(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
  facts: z.string().nullable(),
});
const resultTypes = { attempts: "int2", httpStatus: "int2", facts: "jsonb" };
const postponedRows = createJsonRecordset(
  ResultRow.extend({ nextAttemptAt: z.date().nullable() }),
  resultTypes,
);
const endedRows = createJsonRecordset(
  ResultRow.extend({
    isDelivered: z.boolean(),
    isLast: z.boolean(),
    durationMs: z.int().nullable(),
  }),
  resultTypes,
);

/** Serializes a failed attempt for storage with its delivery. */
const serializeFailedAttempt = (result: AttemptResult): string => {
  const { attempts: number, durationMs, httpStatus, error } = result;
  const startedAt = result.startedAt.toISOString();
  return JSON.stringify({
    number,
    startedAt,
    durationMs,
    httpStatus,
    error,
  } satisfies StoredAttempt);
};

/**
 * Looks up the delivery of each result by its key, one lookup per result instead of a join. The
 * planner would base a join on the statistics of the last ANALYZE. If the queue was empty then and
 * has grown since, the join could scan the whole queue. {@link matchesEndpoint} exists for the same reason.
 */
const deliveryOfResult = (condition: Fragment): Fragment => sql.fragment`
  FROM deliveries
  WHERE event_id = results.event_id AND ${matchesEndpoint(sql.fragment`results`)}
    AND deliveries.attempts = results.attempts AND ${condition}
  LIMIT 1
`;

/**
 * Finds and locks deliveries one by one, and skips locked ones. If a row changed after the
 * statement began, the lock returns a position (`ctid`) that the statement cannot see, so the row
 * stays unchanged.
 */
const lockMatchingRows = (resultsTable: Fragment, condition: Fragment): Fragment => sql.fragment`
  SELECT delivery.place
  FROM ${resultsTable} CROSS JOIN LATERAL (
    SELECT ctid AS place ${deliveryOfResult(condition)} FOR NO KEY UPDATE SKIP LOCKED
  ) AS delivery
`;

/**
 * Finds attempts whose results would have been written if another transaction had not locked or
 * just changed their rows.
 */
const findLockedAttempts = (
  tx: Transaction,
  resultsTable: Fragment,
  condition: Fragment,
): Promise<readonly AttemptKey[]> =>
  tx.any(sql.type(AttemptRow)`
    SELECT delivery.id, results.attempts
    FROM ${resultsTable} CROSS JOIN LATERAL (SELECT id ${deliveryOfResult(condition)}) AS delivery
  `);

const findLockedResults = async (
  tx: Transaction,
  results: readonly AttemptResult[],
): Promise<readonly AttemptKey[]> => {
  if (results.length === 0) return [];
  const rows = results.map(({ eventId, endpointId, attempts, isDelivered }) => [
    eventId,
    endpointId,
    attempts,
    isDelivered,
  ]);
  const resultsTable = sql.fragment`
    ${sql.unnest(rows, ["text", "text", "int2", "bool"])}
      AS results (event_id, endpoint_id, attempts, is_delivered)
  `;
  return findLockedAttempts(
    tx,
    resultsTable,
    sql.fragment`(results.is_delivered OR lease_until IS NOT NULL)`,
  );
};

const isPending = sql.fragment`lease_until IS NOT NULL AND abandoned_as IS NULL`;

/**
 * Schedules the next attempt of failed deliveries. Returns the attempts whose retry was scheduled.
 * Others are missing from the result if, for example, their delivery was abandoned in the meantime.
 */
const postpone = async (
  tx: Transaction,
  results: readonly AttemptResult[],
): Promise<readonly AttemptKey[]> => {
  if (results.length === 0) return [];
  const rows = results.map((result) => ({ ...result, facts: serializeFailedAttempt(result) }));
  return tx.any(sql.prepared("postpone_deliveries", AttemptRow)`
    WITH results AS (${postponedRows(rows)}), found AS MATERIALIZED (
      ${lockMatchingRows(sql.fragment`results`, isPending)}
    )
    UPDATE deliveries
    SET http_status = results.http_status, error = results.error, last_attempt_at = results.started_at,
        sent_body = results.sent_body,
        failed_attempts = ${appendFailedAttempt(sql.fragment`deliveries`)},
        next_attempt_at = results.next_attempt_at, lease_until = NULL
    FROM results
    WHERE ctid = ANY (ARRAY(SELECT place FROM found))
      AND deliveries.event_id = results.event_id AND deliveries.endpoint_id = results.endpoint_id
      AND deliveries.attempts = results.attempts
    RETURNING deliveries.id, deliveries.attempts
  `);
};

const appendFailedAttempt = (tableAlias: Fragment): Fragment => sql.fragment`
  COALESCE(${tableAlias}.failed_attempts, '[]') || results.facts
`;

const isFinished = sql.fragment`
  (results.is_delivered OR lease_until IS NOT NULL AND (results.is_last OR abandoned_as IS NOT NULL))
`;

/**
 * Ends deliveries whose attempt succeeded, was the last one, or was abandoned. Returns the attempts
 * of those that ended.
 */
const moveToLog = async (
  tx: Transaction,
  results: readonly AttemptResult[],
): Promise<readonly AttemptKey[]> => {
  if (results.length === 0) return [];
  const rows = results.map((result) => ({
    ...result,
    isLast: result.nextAttemptAt === null,
    facts: result.isDelivered ? null : serializeFailedAttempt(result),
  }));
  return tx.any(sql.prepared("end_deliveries", AttemptRow)`
    WITH results AS (${endedRows(rows)}), found AS MATERIALIZED (
      ${lockMatchingRows(sql.fragment`results`, isFinished)}
    ), ended AS (
      DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING *
    )
    ${insertIntoLog({
      rows: sql.fragment`ended JOIN results USING (event_id, endpoint_id, attempts)`,
      status: sql.fragment`CASE WHEN is_delivered THEN 'Delivered' ELSE 'Failed' END`,
      lastAttemptAt: sql.fragment`started_at`,
      httpStatus: sql.fragment`results.http_status`,
      error: sql.fragment`CASE WHEN NOT is_delivered THEN COALESCE(abandoned_as, results.error) END`,
      // An abandoned delivery has another error than its attempt, so the attempt is stored too.
      failedAttempts: sql.fragment`
        CASE WHEN abandoned_as IS NOT NULL AND NOT is_delivered
          THEN ${appendFailedAttempt(sql.fragment`ended`)} ELSE failed_attempts END
      `,
      durationMs: sql.fragment`results.duration_ms`,
      sentBody: sql.fragment`results.sent_body`,
    })}
    RETURNING id, attempts
  `);
};

type LogColumns = Record<
  | "rows"
  | "status"
  | "attempts"
  | "lastAttemptAt"
  | "httpStatus"
  | "error"
  | "failedAttempts"
  | "durationMs"
  | "sentBody",
  Fragment
>;

const unchangedColumns = {
  attempts: sql.fragment`ended.attempts`,
  lastAttemptAt: sql.fragment`last_attempt_at`,
  httpStatus: sql.fragment`ended.http_status`,
  failedAttempts: sql.fragment`failed_attempts`,
  durationMs: sql.fragment`NULL::int`,
  sentBody: sql.fragment`ended.sent_body`,
};

/** Inserts deliveries that were just removed from the queue (the rows of `ended`) into the log. */
const insertIntoLog = (
  columns: Pick<LogColumns, "rows" | "status" | "error"> & Partial<LogColumns>,
): Fragment => {
  const { rows, status, error, ...attemptColumns } = { ...unchangedColumns, ...columns };
  return sql.fragment`
    INSERT INTO delivery_log
      (id, event_id, endpoint_id, occurred_on, event_type, link_id, payment_id, date_created,
       status, error, attempts, last_attempt_at, http_status, failed_attempts, duration_ms,
       sent_body)
    SELECT ended.id, event_id, endpoint_id, (occurred_at AT TIME ZONE 'utc')::date, event_type,
           link_id, transaction ->> 'id', date_created,
           ${status}, ${error}, ${attemptColumns.attempts}, ${attemptColumns.lastAttemptAt},
           ${attemptColumns.httpStatus}, ${attemptColumns.failedAttempts}, ${attemptColumns.durationMs},
           ${attemptColumns.sentBody}
    FROM ${rows}
    ON CONFLICT DO NOTHING
  `;
};

/** The columns of a delivery that ends without another attempt. */
const failedColumns = {
  rows: sql.fragment`ended`,
  status: sql.fragment`'Failed'`,
  error: sql.fragment`abandoned_as`,
};

type Lease = Pick<Attempt, "delivery" | "leaseUntil">;

/**
 * Matches only this lease, because the same attempt can be leased again, for example if a process
 * did not get the confirmation of its release. `IS NOT DISTINCT FROM` keeps the planner from using
 * the index of leases, with which it could read all leases that expire at the same time.
 */
const isSameLease = sql.fragment`lease_until IS NOT DISTINCT FROM results.lease_until`;

/**
 * Releases the leases of attempts that never started. These do not count as attempts. Ends
 * deliveries to an endpoint that was disabled or deleted in the meantime. Does not wait for locks.
 * Returns the leases that must be released again, because another transaction is changing their
 * deliveries.
 */
export const releaseDeliveries = async <LeaseType extends Lease>(
  tx: Transaction,
  leases: readonly LeaseType[],
  now: Date,
): Promise<readonly LeaseType[]> => {
  const rows = leases.map(({ delivery: { eventId, endpointId, attempts }, leaseUntil }) => [
    eventId,
    endpointId,
    attempts,
    leaseUntil.toISOString(),
  ]);
  const resultsTable = sql.fragment`
    ${sql.unnest(rows, ["text", "text", "int2", "timestamptz"])}
      AS results (event_id, endpoint_id, attempts, lease_until)
  `;
  const { rowCount } = await tx.query(sqlVoid`
    WITH found AS MATERIALIZED (
      ${lockMatchingRows(resultsTable, sql.fragment`${isSameLease} AND abandoned_as IS NULL`)}
    )
    UPDATE deliveries
    SET attempts = attempts - 1, next_attempt_at = ${sql.timestamp(now)}, lease_until = NULL
    WHERE ctid = ANY (ARRAY(SELECT place FROM found))
  `);
  if (rowCount === leases.length) return [];
  await tx.query(sqlVoid`
    WITH found AS MATERIALIZED (
      ${lockMatchingRows(resultsTable, sql.fragment`${isSameLease} AND abandoned_as IS NOT NULL`)}
    ), ended AS (
      DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING *
    )
    ${insertIntoLog({ ...failedColumns, attempts: sql.fragment`ended.attempts - 1` })}
  `);
  const lockedKeys = new Set(
    (await findLockedAttempts(tx, resultsTable, isSameLease)).map(toAttemptKey),
  );
  return leases.filter(({ delivery }) => lockedKeys.has(toAttemptKey(delivery)));
};

type Abandonment = { userId: string; endpointId: string; reason: AbandonReason };

const isOwnEndpoint = ({ userId, endpointId }: Abandonment): Fragment => sql.fragment`
  endpoint_id = (SELECT id FROM endpoints WHERE id = ${endpointId} AND user_id = ${userId})
`;

const abandonBatchMax = 1_000;
const abandonBatchesMax = 1_000;

/**
 * Abandons most of an endpoint's waiting deliveries, in batches that do not block other work. Call
 * it before {@link abandonDeliveries}, which blocks all events of the account and other events
 * behind them, so that it has little left to do.
 */
export const abandonQueue = async (pool: Pool, abandonment: Abandonment): Promise<void> => {
  for (let batches = 0; batches < abandonBatchesMax; batches += 1) {
    const { rowCount } = await pool.query(sqlVoid`
      WITH found AS MATERIALIZED (
        SELECT ctid AS place FROM deliveries
        WHERE ${isOwnEndpoint(abandonment)} AND next_attempt_at IS NOT NULL
        ORDER BY next_attempt_at LIMIT ${abandonBatchMax} FOR NO KEY UPDATE SKIP LOCKED
      ), ended AS (
        DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING *
      )
      ${insertIntoLog({ ...failedColumns, error: sql.fragment`${abandonment.reason}` })}
    `);
    if (rowCount < abandonBatchMax) return;
  }
};

/**
 * Abandons all deliveries that wait for an endpoint of the account (rule HOOK-6). An attempt in
 * progress can finish: a 2xx is recorded, and any other result ends the delivery with the same
 * reason. Call it before changing the endpoint's own row, because recording attempts also locks
 * deliveries before endpoints.
 */
export const abandonDeliveries = (tx: Transaction, abandonment: Abandonment): Promise<void> =>
  withStatementTimeout(tx, abandonMsMax, () => abandon(tx, abandonment));

/**
 * A queue that is longer than {@link abandonQueue} handles needs more time than the usual statement
 * timeout.
 */
const abandonMsMax = 60_000;

const abandon = async (tx: Transaction, abandonment: Abandonment): Promise<void> => {
  const ownedCondition = isOwnEndpoint(abandonment);
  const { reason } = abandonment;
  // Locks all rows first, each in its current state. Otherwise, an attempt could start or end
  // between the two statements below, and both would miss its delivery.
  await tx.query(countRow`
    SELECT count(*)::int AS count FROM (
      SELECT FROM deliveries WHERE ${ownedCondition} FOR NO KEY UPDATE
    ) AS locked
  `);
  await tx.query(sqlVoid`
    UPDATE deliveries SET abandoned_as = ${reason} WHERE ${ownedCondition} AND lease_until IS NOT NULL
  `);
  await tx.query(sqlVoid`
    WITH ended AS (
      DELETE FROM deliveries WHERE ${ownedCondition} AND next_attempt_at IS NOT NULL RETURNING *
    )
    ${insertIntoLog({ ...failedColumns, error: sql.fragment`${reason}` })}
  `);
};
