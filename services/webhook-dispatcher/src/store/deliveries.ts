import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { WebhookTransaction, pageSize, webhookTypes } from "@payment-links/contracts";
import { type AbandonReason, type LoggedDelivery, deliveryStatuses } from "../domain/delivery.ts";
import type { WebhookEvent } from "../domain/webhook-body.ts";

const nothing = sql.type(z.object({}).strict());

const toText = (instant: Date | null): string | null => instant?.toISOString() ?? null;

/** What the deliveries of one event have in common. */
export type NewDeliveries = Omit<WebhookEvent, "id"> & {
  eventId: string;
  linkId: string;
  traceparent: string | null;
  dateCreated: Date;
  nextAttemptAt: Date;
};

/** Opens a delivery of an event per endpoint; one that an endpoint already has is left as it is. */
export const insertDeliveries = async (
  tx: DatabaseTransactionConnection,
  event: NewDeliveries,
  deliveries: readonly { id: string; endpointId: string }[],
): Promise<void> => {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery) => [delivery.id, delivery.endpointId]);
  const transaction = event.transaction === null ? null : sql.jsonb(event.transaction);
  await tx.query(nothing`
    INSERT INTO deliveries
      (id, endpoint_id, event_id, link_id, event_type, occurred_at, transaction, traceparent,
       date_created, next_attempt_at)
    SELECT id, endpoint_id, ${event.eventId}, ${event.linkId}, ${event.eventType},
           ${sql.timestamp(event.occurredAt)}, ${transaction}::jsonb, ${event.traceparent},
           ${sql.timestamp(event.dateCreated)}, ${sql.timestamp(event.nextAttemptAt)}
    FROM ${sql.unnest(rows, ["text", "text"])} AS delivery (id, endpoint_id)
    ON CONFLICT (event_id, endpoint_id) DO NOTHING
  `);
};

const ClaimRow = z.object({
  id: z.string(),
  endpointId: z.string(),
  linkId: z.string(),
  eventType: z.enum(webhookTypes),
  occurredAt: z.date(),
  transaction: WebhookTransaction.nullable(),
  traceparent: z.string().nullable(),
  attempts: z.int(),
});
const claimRow = sql.type(ClaimRow);

/** A delivery leased for one attempt; `attempts` is this attempt's number. */
export type ClaimedDelivery = z.output<typeof ClaimRow>;

/** Attempts under way in this process, by endpoint. */
type InFlight = ReadonlyMap<string, number>;

type EndpointBounds = { slotsPerEndpoint: number; inFlight: InFlight };

type ClaimBounds = EndpointBounds & {
  now: Date;
  leaseUntil: Date;
  /** Free slots of this process, over all endpoints. */
  slots: number;
};

/**
 * Each endpoint that has something waiting, with its earliest instant and its free slots. It jumps from
 * endpoint to endpoint along the index, so that a long queue at one costs the others nothing.
 */
const waitingEndpoints = ({ inFlight, slotsPerEndpoint }: EndpointBounds) =>
  sql.fragment`
    WITH RECURSIVE first_waiting AS (
      (SELECT endpoint_id, next_attempt_at FROM deliveries WHERE next_attempt_at IS NOT NULL
       ORDER BY endpoint_id, next_attempt_at LIMIT 1)
      UNION ALL
      SELECT following.* FROM first_waiting CROSS JOIN LATERAL (
        SELECT endpoint_id, next_attempt_at FROM deliveries
        WHERE next_attempt_at IS NOT NULL AND endpoint_id > first_waiting.endpoint_id
        ORDER BY endpoint_id, next_attempt_at LIMIT 1
      ) AS following
    ), waiting AS (
      SELECT endpoint_id, next_attempt_at, ${slotsPerEndpoint} - COALESCE(count, 0) AS free
      FROM first_waiting
      LEFT JOIN ${sql.unnest([...inFlight], ["text", "int4"])} AS busy (endpoint_id, count)
        USING (endpoint_id)
    )
  `;

/**
 * Leases due deliveries, each for one attempt whose number is written with the lease. Slots are dealt
 * out evenly over the endpoints with free ones; what another process is claiming is skipped.
 */
export const claimDeliveries = (
  tx: DatabaseTransactionConnection,
  bounds: ClaimBounds,
): Promise<readonly ClaimedDelivery[]> =>
  tx.any(claimRow`
    ${waitingEndpoints(bounds)}, turn AS (
      SELECT endpoint_id,
             LEAST(free, ceil(${bounds.slots}::numeric / count(*) OVER ())::int) AS share
      FROM (
        SELECT endpoint_id, free FROM waiting
        WHERE free > 0 AND next_attempt_at <= ${sql.timestamp(bounds.now)}
        ORDER BY next_attempt_at LIMIT ${bounds.slots}
      ) AS ready
    ), due AS MATERIALIZED (
      SELECT first_due.id FROM turn CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE endpoint_id = turn.endpoint_id AND next_attempt_at <= ${sql.timestamp(bounds.now)}
        ORDER BY next_attempt_at LIMIT turn.share
        FOR NO KEY UPDATE SKIP LOCKED
      ) AS first_due
      LIMIT ${bounds.slots}
    )
    UPDATE deliveries
    SET attempts = attempts + 1, next_attempt_at = NULL,
        lease_until = ${sql.timestamp(bounds.leaseUntil)},
        last_attempt_at = ${sql.timestamp(bounds.now)}
    FROM due WHERE deliveries.id = due.id
    RETURNING deliveries.id, endpoint_id AS "endpointId", link_id AS "linkId",
              event_type AS "eventType", occurred_at AS "occurredAt", transaction, traceparent,
              attempts
  `);

const instantRow = sql.type(z.object({ at: z.date().nullable() }));

/** The earliest instant at which an endpoint with a free slot has something due, or null. */
export const findNextDue = async (
  pool: CommonQueryMethods,
  bounds: EndpointBounds,
): Promise<Date | null> => {
  const { at } = await pool.one(instantRow`
    ${waitingEndpoints(bounds)}
    SELECT min(next_attempt_at) AS at FROM waiting WHERE free > 0
  `);
  return at;
};

/** How an attempt ended; `nextAttemptAt` is null where no other follows. */
export type AttemptResult = {
  id: string;
  attempts: number;
  isDelivered: boolean;
  httpStatus: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
};

/**
 * Writes how attempts ended and gives up their leases. A failure whose lease somebody else has already
 * called interrupted changes nothing; a 2xx, however late, counts while no further attempt has begun.
 */
export const recordResults = async (
  tx: DatabaseTransactionConnection,
  results: readonly AttemptResult[],
): Promise<void> => {
  const rows = results.map((result) => [
    result.id,
    result.attempts,
    result.isDelivered,
    result.httpStatus,
    result.error,
    toText(result.nextAttemptAt),
  ]);
  await tx.query(nothing`
    UPDATE deliveries
    SET status = CASE WHEN is_delivered THEN 'Delivered'
                      WHEN abandoned_as IS NOT NULL OR result.next_attempt_at IS NULL THEN 'Failed'
                      ELSE 'Pending' END,
        http_status = result.http_status,
        error = CASE WHEN is_delivered THEN NULL ELSE COALESCE(abandoned_as, result.error) END,
        next_attempt_at = CASE WHEN is_delivered OR abandoned_as IS NOT NULL THEN NULL
                               ELSE result.next_attempt_at END,
        lease_until = NULL
    FROM ${sql.unnest(rows, ["text", "int2", "bool", "int2", "text", "timestamptz"])}
      AS result (id, attempts, is_delivered, http_status, error, next_attempt_at)
    WHERE deliveries.id = result.id AND deliveries.attempts = result.attempts
      AND (is_delivered OR lease_until IS NOT NULL)
  `);
};

const LapsedRow = z.object({
  id: z.string(),
  endpointId: z.string(),
  attempts: z.int(),
  leaseUntil: z.date(),
});
const lapsedRow = sql.type(LapsedRow);

/** An attempt that was begun and whose process did not live to tell its end. */
export type LapsedAttempt = z.output<typeof LapsedRow>;

/** Locks attempts whose lease has run out; those that another process is looking at are skipped. */
export const lockLapsed = (
  tx: DatabaseTransactionConnection,
  { now, limit }: { now: Date; limit: number },
): Promise<readonly LapsedAttempt[]> =>
  tx.any(lapsedRow`
    SELECT id, endpoint_id AS "endpointId", attempts, lease_until AS "leaseUntil"
    FROM deliveries WHERE lease_until <= ${sql.timestamp(now)}
    ORDER BY lease_until LIMIT ${limit}
    FOR NO KEY UPDATE SKIP LOCKED
  `);

type Abandonment = { userId: string; endpointId: string; reason: AbandonReason };

/**
 * Abandons whatever an endpoint of the account still waits for (spec §6.1 rule 5). An attempt under way
 * may end: its 2xx counts, anything else ends the delivery with the same reason. To be done before the
 * endpoint's own row is changed: deliveries are locked before endpoints, here as by attempts that end.
 */
export const abandonDeliveries = async (
  tx: DatabaseTransactionConnection,
  { userId, endpointId, reason }: Abandonment,
): Promise<void> => {
  const own = sql.fragment`
    endpoint_id = (SELECT id FROM endpoints WHERE id = ${endpointId} AND user_id = ${userId})
  `;
  await tx.query(nothing`
    UPDATE deliveries SET status = 'Failed', error = ${reason}, next_attempt_at = NULL
    WHERE ${own} AND next_attempt_at IS NOT NULL
  `);
  await tx.query(nothing`
    UPDATE deliveries SET abandoned_as = ${reason} WHERE ${own} AND lease_until IS NOT NULL
  `);
};

const LoggedRow = z.object({
  id: z.string(),
  eventType: z.enum(webhookTypes),
  status: z.enum(deliveryStatuses),
  attempts: z.int(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
  dateCreated: z.date(),
  lastAttemptAt: z.date().nullable(),
  nextAttemptAt: z.date().nullable(),
});
const loggedRow = sql.type(LoggedRow);

/** A page of an endpoint's log, newest first, and whether more follows. */
export const listDeliveries = async (
  pool: CommonQueryMethods,
  { endpointId, offset }: { endpointId: string; offset: number },
): Promise<{ deliveries: readonly LoggedDelivery[]; hasMore: boolean }> => {
  const rows = await pool.any(loggedRow`
    SELECT id, event_type AS "eventType", status, attempts, http_status AS "httpStatus", error,
           date_created AS "dateCreated", last_attempt_at AS "lastAttemptAt",
           next_attempt_at AS "nextAttemptAt"
    FROM deliveries WHERE endpoint_id = ${endpointId}
    ORDER BY date_created DESC, id DESC
    LIMIT ${pageSize + 1} OFFSET ${offset}
  `);
  return { deliveries: rows.slice(0, pageSize), hasMore: rows.length > pageSize };
};

const countRow = sql.type(z.object({ count: z.int() }));

/** How many deliveries are pending, counted up to a limit so that a long queue stays cheap to watch. */
export const countPending = async (
  pool: CommonQueryMethods,
  { limit }: { limit: number },
): Promise<number> => {
  const { count } = await pool.one(countRow`
    SELECT count(*)::int AS count FROM (
      (SELECT FROM deliveries WHERE next_attempt_at IS NOT NULL LIMIT ${limit})
      UNION ALL
      (SELECT FROM deliveries WHERE lease_until IS NOT NULL LIMIT ${limit})
    ) AS pending
  `);
  return Math.min(count, limit);
};
