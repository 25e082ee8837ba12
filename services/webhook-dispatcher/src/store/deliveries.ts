import {
  type Db,
  type Transaction,
  createJsonRecordset,
  defineTable,
} from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { webhookTypes } from "@payment-links/contracts";
import { type Delivery, StoredTransaction } from "../domain/attempt.ts";
import { toUtcDay, matchesEndpoint } from "./delivery-log.ts";

const IdRow = z.object({ id: z.string() });
const countRow = sql.type(z.object({ count: z.int() }));

/** A delivery to create. */
export type NewDelivery = Omit<Delivery, "attempts"> & {
  /** The earliest time at which the event can have been published. */
  earliestPublishedAt: Date;
  dateCreated: Date;
} & (
    | { nextAttemptAt: Date; leaseUntil: null }
    /** Leased from the start, for the first attempt. */
    | { nextAttemptAt: null; leaseUntil: Date }
  );

/**
 * Creates deliveries. Skips an event if its endpoint already has a delivery for it, in the queue or
 * in the log. Returns the ids of the created deliveries.
 */
export const insertDeliveries = async (
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<string>> => {
  if (deliveries.length === 0) return new Set();
  const rows = deliveries.map((delivery) => ({
    ...delivery,
    firstDay: firstPossibleDay(delivery),
  }));
  // A restored source republishes an event with the same id at another time, so the lookup covers
  // every day on which the event can have been published. Postgres scans only the partitions of
  // these days, even with a generic plan. The lookup with a `LIMIT` runs once per delivery. A join
  // could read the whole log instead.
  const firstDay = rows
    .map((row) => row.firstDay)
    .reduce((first, day) => (day < first ? day : first));
  const lastDay = deliveries
    .map(({ occurredAt }) => toUtcDay(occurredAt))
    .reduce((last, day) => (day > last ? day : last));
  // In the snapshot of this statement, a delivery that is being moved to the log is still in the
  // queue. `ON CONFLICT` alone would wait until it is gone from the queue and then create it again.
  const insertedRows = await tx.any(sql.prepared("insert_deliveries", IdRow)`
    INSERT INTO deliveries (${newColumns}, attempts)
    SELECT ${newColumns}, CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
    FROM (${newDeliveryRows(rows)}) AS delivery
    LEFT JOIN LATERAL (
      SELECT true AS is_over FROM delivery_log
      WHERE event_id = delivery.event_id AND ${matchesEndpoint(sql.fragment`delivery`)}
        AND occurred_on >= delivery.first_day
        AND occurred_on <= (delivery.occurred_at AT TIME ZONE 'utc')::date
        AND occurred_on BETWEEN ${firstDay}::date AND ${lastDay}::date
      LIMIT 1
    ) AS logged ON true
    WHERE logged.is_over IS NULL AND (
      SELECT true FROM deliveries
      WHERE event_id = delivery.event_id AND ${matchesEndpoint(sql.fragment`delivery`)} LIMIT 1
    ) IS NULL
    ON CONFLICT (event_id, endpoint_id) DO NOTHING
    RETURNING id
  `);
  return new Set(insertedRows.map(({ id }) => id));
};

/**
 * Starts an hour early because clocks can differ. The first day is never after the event's own day.
 */
const firstPossibleDay = ({ earliestPublishedAt, occurredAt }: NewDelivery): string => {
  const sinceMs = Math.min(earliestPublishedAt.getTime(), occurredAt.getTime()) - clockSkewMs;
  return toUtcDay(new Date(Math.max(0, sinceMs)));
};

const clockSkewMs = 60 * 60_000;

const ClaimRow = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  linkId: z.string(),
  eventType: z.enum(webhookTypes),
  occurredAt: z.date(),
  transaction: StoredTransaction.nullable(),
  traceparent: z.string().nullable(),
  attempts: z.int(),
}) satisfies z.ZodType<Delivery>;
const claimRow = sql.type(ClaimRow);
const { columns: claimColumns } = defineTable(ClaimRow);

const NewRow = ClaimRow.omit({ attempts: true }).extend({
  dateCreated: z.date(),
  nextAttemptAt: z.date().nullable(),
  leaseUntil: z.date().nullable(),
});
const { names: newColumns } = defineTable(NewRow);
const newDeliveryRows = createJsonRecordset(NewRow.extend({ firstDay: z.string() }), {
  transaction: "jsonb",
  firstDay: "date",
});

const WaitingRow = z.object({
  endpointId: z.string(),
  userId: z.string(),
  origin: z.string(),
  dueAt: z.date(),
});
const waitingRow = sql.type(WaitingRow);

/** An endpoint with waiting deliveries, and the time at which the first of them is due. */
export type WaitingEndpoint = z.output<typeof WaitingRow>;

type WaitingOptions = {
  limit: number;
  /** Destinations to exclude. */
  excluded?: {
    endpointIds: readonly string[];
    userIds: readonly string[];
    origins: readonly string[];
  };
  /** Endpoints to include even if they are excluded. */
  alwaysIncluded?: readonly string[];
};

const noExclusions = { endpointIds: [], userIds: [], origins: [] };

/**
 * Lists endpoints with waiting deliveries, starting with the one that is due first. The query jumps
 * from endpoint to endpoint in the index, so that one endpoint's long queue does not slow down the
 * others.
 */
export const listWaitingEndpoints = (
  pool: Db,
  {
    limit,
    excluded: { endpointIds, userIds, origins } = noExclusions,
    alwaysIncluded = [],
  }: WaitingOptions,
): Promise<readonly WaitingEndpoint[]> =>
  pool.any(waitingRow`
    WITH RECURSIVE first_waiting AS (
      (SELECT endpoint_id, next_attempt_at FROM deliveries WHERE next_attempt_at IS NOT NULL
       ORDER BY endpoint_id, next_attempt_at LIMIT 1)
      UNION ALL
      SELECT following.* FROM first_waiting CROSS JOIN LATERAL (
        SELECT endpoint_id, next_attempt_at FROM deliveries
        WHERE next_attempt_at IS NOT NULL AND endpoint_id > first_waiting.endpoint_id
        ORDER BY endpoint_id, next_attempt_at LIMIT 1
      ) AS following
    )
    SELECT endpoint_id AS "endpointId", user_id AS "userId", origin, next_attempt_at AS "dueAt"
    FROM first_waiting JOIN endpoints ON endpoints.id = endpoint_id
    WHERE endpoint_id = ANY (${sql.array([...alwaysIncluded], "text")})
      OR (endpoint_id <> ALL (${sql.array([...endpointIds], "text")})
          AND user_id <> ALL (${sql.array([...userIds], "text")})
          AND origin <> ALL (${sql.array([...origins], "text")}))
    ORDER BY next_attempt_at LIMIT ${limit}
  `);

type ClaimBounds = {
  now: Date;
  leaseUntil: Date;
  /** The maximum number of deliveries per endpoint. Rows of other endpoints are not read. */
  shares: readonly { endpointId: string; share: number }[];
};

/**
 * Leases due deliveries, each for one attempt, and stores the number of the attempt with the lease.
 * Skips deliveries that another process is claiming.
 */
export const claimDeliveries = (
  tx: Transaction,
  { now, leaseUntil, shares }: ClaimBounds,
): Promise<readonly Delivery[]> => {
  const shareRows = shares.map(({ endpointId, share }) => [endpointId, share]);
  // A locked row keeps its position (`ctid`) until it is updated. If a row was updated after the
  // statement began, the lock returns a position that the statement cannot see, and the row is left
  // for the next poll. Postgres looks up an array of positions one by one, whatever the planner
  // estimates for the size of the table.
  return tx.any(claimRow`
    WITH due AS MATERIALIZED (
      SELECT first_due.ctid
      FROM ${sql.unnest(shareRows, ["text", "int4"])} AS turn (endpoint_id, share)
      CROSS JOIN LATERAL (
        SELECT ctid FROM deliveries
        WHERE endpoint_id = turn.endpoint_id AND next_attempt_at <= ${sql.timestamp(now)}
        ORDER BY next_attempt_at LIMIT turn.share
        FOR NO KEY UPDATE SKIP LOCKED
      ) AS first_due
    )
    UPDATE deliveries
    SET attempts = attempts + 1, next_attempt_at = NULL,
        lease_until = ${sql.timestamp(leaseUntil)}
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM due))
    RETURNING ${claimColumns}
  `);
};

const ExpiredLeaseRow = ClaimRow.pick({
  id: true,
  eventId: true,
  endpointId: true,
  occurredAt: true,
  attempts: true,
}).extend({ leaseUntil: z.date() });
const expiredLeaseRow = sql.type(ExpiredLeaseRow);
const { columns: expiredLeaseColumns } = defineTable(ExpiredLeaseRow);

/** A started attempt whose process died before it reported the outcome. */
export type ExpiredAttempt = z.output<typeof ExpiredLeaseRow>;

/**
 * Returns whether the lease of any attempt has expired. It is called every second and almost always
 * returns false.
 */
export const hasExpiredLeases = (pool: Db, now: Date): Promise<boolean> =>
  pool.exists(sql.prepared("has_lapsed", z.object({}))`
    SELECT FROM deliveries WHERE lease_until <= ${sql.timestamp(now)}
  `);

/** Locks attempts with expired leases. Skips those that another process has locked. */
export const lockExpiredLeases = (
  tx: Transaction,
  { now, limit }: { now: Date; limit: number },
): Promise<readonly ExpiredAttempt[]> =>
  tx.any(expiredLeaseRow`
    SELECT ${expiredLeaseColumns} FROM deliveries WHERE lease_until <= ${sql.timestamp(now)}
    ORDER BY lease_until LIMIT ${limit}
    FOR NO KEY UPDATE SKIP LOCKED
  `);

/** Counts pending deliveries up to a limit, so that measuring a long queue stays cheap. */
export const countPending = async (pool: Db, { limit }: { limit: number }): Promise<number> => {
  const { count } = await pool.one(countRow`
    SELECT count(*)::int AS count FROM (
      (SELECT FROM deliveries WHERE next_attempt_at IS NOT NULL LIMIT ${limit})
      UNION ALL
      (SELECT FROM deliveries WHERE lease_until IS NOT NULL LIMIT ${limit})
    ) AS pending
  `);
  return Math.min(count, limit);
};
