import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { WebhookTransaction, webhookTypes } from "@payment-links/contracts";
import type { AbandonReason } from "../domain/delivery.ts";
import type { WebhookEvent } from "../domain/webhook-body.ts";
import { type LogPlace, correctToDelivered, dayOf, occurredOn } from "./delivery-log.ts";

const nothing = sql.type(z.object({}).strict());
const idRow = sql.type(z.object({ id: z.string() }));
const countRow = sql.type(z.object({ count: z.int() }));

const toText = (instant: Date | null): string | null => instant?.toISOString() ?? null;

/** A delivery to be opened: an event, and the endpoint to which it is owed. */
export type NewDelivery = WebhookEvent & {
  endpointId: string;
  eventId: string;
  linkId: string;
  traceparent: string | null;
  dateCreated: Date;
} & (
    | { nextAttemptAt: Date; leaseUntil: null }
    /** Leased from the start, for its first attempt. */
    | { nextAttemptAt: null; leaseUntil: Date }
  );

const newDeliveryTypes = [
  "text",
  "text",
  "text",
  "text",
  "text",
  "timestamptz",
  "jsonb",
  "text",
  "timestamptz",
  "timestamptz",
  "timestamptz",
];

/**
 * Opens deliveries; one of an event that its endpoint already has, or that is over and in the log, is
 * left as it is. Answers the ids of those that were opened.
 */
export const insertDeliveries = async (
  tx: DatabaseTransactionConnection,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<string>> => {
  if (deliveries.length === 0) return new Set();
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.endpointId,
    delivery.eventId,
    delivery.linkId,
    delivery.eventType,
    delivery.occurredAt.toISOString(),
    delivery.transaction === null ? null : JSON.stringify(delivery.transaction),
    delivery.traceparent,
    delivery.dateCreated.toISOString(),
    toText(delivery.nextAttemptAt),
    toText(delivery.leaseUntil),
  ]);
  // The days' partitions alone are planned for; and a look-up with a limit is one per delivery, never a
  // join for which the log is read whole.
  const days = sql.array([...new Set(deliveries.map((one) => dayOf(one.occurredAt)))], "text");
  const opened = await tx.any(idRow`
    INSERT INTO deliveries
      (id, endpoint_id, event_id, link_id, event_type, occurred_at, transaction, traceparent,
       date_created, next_attempt_at, lease_until, attempts)
    SELECT delivery.*, CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
    FROM ${sql.unnest(rows, newDeliveryTypes)}
      AS delivery (id, endpoint_id, event_id, link_id, event_type, occurred_at, transaction,
                   traceparent, date_created, next_attempt_at, lease_until)
    LEFT JOIN LATERAL (
      SELECT true AS is_over FROM delivery_log
      WHERE event_id = delivery.event_id AND endpoint_id = delivery.endpoint_id
        AND occurred_on = (delivery.occurred_at AT TIME ZONE 'utc')::date
        AND occurred_on = ANY (${days}::date[])
      LIMIT 1
    ) AS logged ON true
    WHERE logged.is_over IS NULL
    ON CONFLICT (event_id, endpoint_id) DO NOTHING
    RETURNING id
  `);
  return new Set(opened.map(({ id }) => id));
};

const ClaimRow = z.object({
  id: z.string(),
  eventId: z.string(),
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

const WaitingRow = z.object({
  endpointId: z.string(),
  userId: z.string(),
  origin: z.string(),
  dueAt: z.date(),
});
const waitingRow = sql.type(WaitingRow);

/** An endpoint that something waits for, and when the first of it is due. */
export type WaitingEndpoint = z.output<typeof WaitingRow>;

type WaitingOptions = {
  limit: number;
  /** Whom to leave out. */
  without?: {
    endpointIds: readonly string[];
    userIds: readonly string[];
    origins: readonly string[];
  };
  /** Endpoints to look at in any case. */
  always?: readonly string[];
};

const nobody = { endpointIds: [], userIds: [], origins: [] };

/**
 * The endpoints that something waits for, the earliest due first. It jumps from endpoint to endpoint
 * along the index, so that a long queue at one costs the others nothing.
 */
export const listWaitingEndpoints = (
  pool: CommonQueryMethods,
  { limit, without: { endpointIds, userIds, origins } = nobody, always = [] }: WaitingOptions,
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
    WHERE endpoint_id = ANY (${sql.array([...always], "text")})
      OR (endpoint_id <> ALL (${sql.array([...endpointIds], "text")})
          AND user_id <> ALL (${sql.array([...userIds], "text")})
          AND origin <> ALL (${sql.array([...origins], "text")}))
    ORDER BY next_attempt_at LIMIT ${limit}
  `);

type ClaimBounds = {
  now: Date;
  leaseUntil: Date;
  /** At most how many of which endpoint; nobody else's rows are read. */
  turns: readonly { endpointId: string; share: number }[];
};

/**
 * Leases due deliveries, each for one attempt whose number is written with the lease. What another
 * process is claiming is skipped.
 */
export const claimDeliveries = (
  tx: DatabaseTransactionConnection,
  { now, leaseUntil, turns }: ClaimBounds,
): Promise<readonly ClaimedDelivery[]> => {
  const rows = turns.map(({ endpointId, share }) => [endpointId, share]);
  // What is locked stays in its place until it is updated; an array of places is read as such, whatever
  // the planner makes of the table's size.
  return tx.any(claimRow`
    WITH due AS MATERIALIZED (
      SELECT first_due.ctid
      FROM ${sql.unnest(rows, ["text", "int4"])} AS turn (endpoint_id, share)
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
    RETURNING id, event_id AS "eventId", endpoint_id AS "endpointId", link_id AS "linkId",
              event_type AS "eventType", occurred_at AS "occurredAt", transaction, traceparent,
              attempts
  `);
};

/** How an attempt ended; `nextAttemptAt` is null where no other follows. */
export type AttemptResult = LogPlace & {
  id: string;
  attempts: number;
  startedAt: Date;
  isDelivered: boolean;
  httpStatus: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
};

/**
 * Writes how attempts ended: what is tried again gives up its lease, what is over moves to the log. A
 * failure whose lease somebody else has already called interrupted changes nothing; a 2xx, however late,
 * counts while no further attempt has begun.
 */
export const recordResults = async (
  tx: DatabaseTransactionConnection,
  results: readonly AttemptResult[],
): Promise<void> => {
  const postponed = await postpone(
    tx,
    results.filter(({ isDelivered, nextAttemptAt }) => !isDelivered && nextAttemptAt !== null),
  );
  const others = results.filter(({ id }) => !postponed.has(id));
  const ended = await moveToLog(tx, others);
  const late = others.filter(({ id, isDelivered }) => isDelivered && !ended.has(id));
  await correctToDelivered(tx, late);
};

const postponedTypes = ["text", "text", "int2", "timestamptz", "int2", "text", "timestamptz"];
const endedTypes = ["text", "text", "int2", "timestamptz", "bool", "bool", "int2", "text"];

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * Finds and locks deliveries one by one along their key. A join would be planned by how large the table was
 * when it was last looked at, and after a quiet time would read all of a queue that has grown since.
 */
const findPlaces = (told: Fragment, condition: Fragment): Fragment => sql.fragment`
  SELECT delivery.place
  FROM ${told} CROSS JOIN LATERAL (
    SELECT ctid AS place FROM deliveries
    WHERE event_id = told.event_id AND endpoint_id = told.endpoint_id
      AND deliveries.attempts = told.attempts AND ${condition}
    LIMIT 1 FOR NO KEY UPDATE
  ) AS delivery
`;

/** Makes failed attempts wait for the next; answers which do, as one may have been abandoned. */
const postpone = async (
  tx: DatabaseTransactionConnection,
  results: readonly AttemptResult[],
): Promise<ReadonlySet<string>> => {
  if (results.length === 0) return new Set();
  const rows = results.map((result) => [
    result.eventId,
    result.endpointId,
    result.attempts,
    result.startedAt.toISOString(),
    result.httpStatus,
    result.error,
    toText(result.nextAttemptAt),
  ]);
  const postponed = await tx.any(idRow`
    WITH told AS (
      SELECT * FROM ${sql.unnest(rows, postponedTypes)}
        AS told (event_id, endpoint_id, attempts, started_at, http_status, error, next_attempt_at)
    ), found AS MATERIALIZED (
      ${findPlaces(sql.fragment`told`, sql.fragment`lease_until IS NOT NULL AND abandoned_as IS NULL`)}
    )
    UPDATE deliveries
    SET http_status = told.http_status, error = told.error, last_attempt_at = told.started_at,
        next_attempt_at = told.next_attempt_at, lease_until = NULL
    FROM told
    WHERE ctid = ANY (ARRAY(SELECT place FROM found))
      AND deliveries.event_id = told.event_id AND deliveries.endpoint_id = told.endpoint_id
    RETURNING deliveries.id
  `);
  return new Set(postponed.map(({ id }) => id));
};

const isOver = sql.fragment`
  (told.is_delivered OR lease_until IS NOT NULL AND (told.is_last OR abandoned_as IS NOT NULL))
`;

/** Ends deliveries whose attempt succeeded, was the last or was abandoned; answers which. */
const moveToLog = async (
  tx: DatabaseTransactionConnection,
  results: readonly AttemptResult[],
): Promise<ReadonlySet<string>> => {
  if (results.length === 0) return new Set();
  const rows = results.map((result) => [
    result.eventId,
    result.endpointId,
    result.attempts,
    result.startedAt.toISOString(),
    result.isDelivered,
    result.nextAttemptAt === null,
    result.httpStatus,
    result.error,
  ]);
  const moved = await tx.any(idRow`
    WITH told AS (
      SELECT * FROM ${sql.unnest(rows, endedTypes)}
        AS told (event_id, endpoint_id, attempts, started_at, is_delivered, is_last, http_status,
                 error)
    ), found AS MATERIALIZED (
      ${findPlaces(sql.fragment`told`, isOver)}
    ), ended AS (
      DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING *
    )
    INSERT INTO delivery_log
      (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
       last_attempt_at, http_status, error)
    SELECT ended.id, event_id, endpoint_id, ${occurredOn}, event_type, date_created,
           CASE WHEN is_delivered THEN 'Delivered' ELSE 'Failed' END, ended.attempts, started_at,
           told.http_status,
           CASE WHEN NOT is_delivered THEN COALESCE(abandoned_as, told.error) END
    FROM ended JOIN told USING (event_id, endpoint_id)
    ON CONFLICT DO NOTHING
    RETURNING id
  `);
  return new Set(moved.map(({ id }) => id));
};

/**
 * Gives back leases of attempts that were never begun, which then do not count; those of an endpoint that
 * was disabled or deleted meanwhile are over.
 */
export const giveBackDeliveries = async (
  tx: DatabaseTransactionConnection,
  leases: readonly Pick<ClaimedDelivery, "eventId" | "endpointId" | "attempts">[],
  now: Date,
): Promise<void> => {
  const rows = leases.map(({ eventId, endpointId, attempts }) => [eventId, endpointId, attempts]);
  const leased = sql.fragment`
    ${sql.unnest(rows, ["text", "text", "int2"])} AS told (event_id, endpoint_id, attempts)
  `;
  const isOwed = sql.fragment`lease_until IS NOT NULL AND abandoned_as IS NULL`;
  const isAbandoned = sql.fragment`lease_until IS NOT NULL AND abandoned_as IS NOT NULL`;
  await tx.query(nothing`
    WITH found AS MATERIALIZED (${findPlaces(leased, isOwed)})
    UPDATE deliveries
    SET attempts = attempts - 1, next_attempt_at = ${sql.timestamp(now)}, lease_until = NULL
    WHERE ctid = ANY (ARRAY(SELECT place FROM found))
  `);
  await tx.query(nothing`
    WITH found AS MATERIALIZED (${findPlaces(leased, isAbandoned)}), ended AS (
      DELETE FROM deliveries WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING *
    )
    INSERT INTO delivery_log
      (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
       last_attempt_at, http_status, error)
    SELECT id, event_id, endpoint_id, ${occurredOn}, event_type, date_created, 'Failed',
           attempts - 1, last_attempt_at, http_status, abandoned_as
    FROM ended
    ON CONFLICT DO NOTHING
  `);
};

const LapsedRow = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  occurredAt: z.date(),
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
    SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", occurred_at AS "occurredAt",
           attempts, lease_until AS "leaseUntil"
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
  // A queue of a million takes longer than a statement may otherwise.
  await tx.query(nothing`SET LOCAL statement_timeout = '60s'`);
  // All are locked first, each in the state it has then: between the two statements that follow one
  // could else begin an attempt, or end it, and be missed by both.
  await tx.query(countRow`
    SELECT count(*)::int AS count FROM (
      SELECT FROM deliveries WHERE ${own} FOR NO KEY UPDATE
    ) AS locked
  `);
  await tx.query(nothing`
    UPDATE deliveries SET abandoned_as = ${reason} WHERE ${own} AND lease_until IS NOT NULL
  `);
  await tx.query(nothing`
    WITH ended AS (
      DELETE FROM deliveries WHERE ${own} AND next_attempt_at IS NOT NULL RETURNING *
    )
    INSERT INTO delivery_log
      (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
       last_attempt_at, http_status, error)
    SELECT id, event_id, endpoint_id, ${occurredOn}, event_type, date_created, 'Failed', attempts,
           last_attempt_at, http_status, ${reason}
    FROM ended
    ON CONFLICT DO NOTHING
  `);
};

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
