import {
  type Db,
  Int8,
  type Transaction,
  createJsonRecordset,
  defineTable,
  sqlVoid,
} from "@payment-links/postgres";
import { Mode, createApiError, webhookTypes } from "@payment-links/contracts";
import { sql } from "slonik";
import * as z from "zod";
import { StoredTransaction } from "../domain/attempt.ts";
import {
  type ListenerEvent,
  getListenersSince,
  listenerEventsMax,
  listenersMax,
} from "../domain/listener.ts";
import type { SealedSecret } from "../domain/secret-keys.ts";

const idRow = sql.type(z.object({ id: z.string() }));
const countRow = sql.type(z.object({ count: z.int() }));

/** A listener as the API key of its account and mode names it. */
type OwnListener = { id: string; userId: string; mode: Mode };

export type NewListener = SealedSecret & OwnListener & { dateCreated: Date };

/**
 * Adds a listener. Requires `lockEndpoints`, so that no event is missed and the limit holds under
 * concurrency. Rejects it if the account already has the maximum number in its mode.
 */
export const insertListener = async (tx: Transaction, listener: NewListener): Promise<void> => {
  const { dateCreated: now, mode, userId } = listener;
  const since = sql.timestamp(getListenersSince(now));
  const { count } = await tx.one(countRow`
    SELECT count(*)::int AS count FROM listeners
    WHERE user_id = ${userId} AND mode = ${mode} AND last_contact_at > ${since}
  `);
  if (count >= listenersMax) throw createApiError("WEBHOOK_LISTENER_LIMIT");
  await tx.query(sqlVoid`
    INSERT INTO listeners
      (id, user_id, mode, sealed_secret, secret_key_name, date_created, last_contact_at)
    VALUES
      (${listener.id}, ${userId}, ${mode}, ${sql.binary(listener.sealed)}, ${listener.keyName},
       ${sql.timestamp(now)}, ${sql.timestamp(now)})
  `);
};

/** Deletes a listener with its events. Returns whether it existed. */
export const deleteListener = async (
  pool: Db,
  { id, mode, userId }: OwnListener,
): Promise<boolean> => {
  const deletedRow = await pool.maybeOne(idRow`
    DELETE FROM listeners WHERE id = ${id} AND user_id = ${userId} AND mode = ${mode} RETURNING id
  `);
  return deletedRow !== null;
};

/** The maximum number of listeners deleted per run. Each has up to 1,000 events. */
const deletedListenersMax = 20;

/** Deletes listeners without a recent connection. Returns whether more of them may remain. */
export const deleteEndedListeners = async (pool: Db, now: Date): Promise<boolean> => {
  const { rowCount } = await pool.query(sqlVoid`
    DELETE FROM listeners WHERE id = ANY (ARRAY(
      SELECT id FROM listeners WHERE last_contact_at <= ${sql.timestamp(getListenersSince(now))}
      LIMIT ${deletedListenersMax} FOR UPDATE SKIP LOCKED
    ))
  `);
  return rowCount === deletedListenersMax;
};

const ConnectedRow = z.object({
  acknowledgedNumber: Int8,
  sealed: z.instanceof(Buffer),
  keyName: z.string(),
});
const connectedRow = sql.type(ConnectedRow);

/**
 * Records a connection of a listener, and deletes the events up to the number that the client
 * acknowledges. Returns null if there is no such listener.
 */
export const connectListener = async (
  tx: Transaction,
  { id, mode, userId, lastNumber }: OwnListener & { lastNumber: number },
  now: Date,
): Promise<z.output<typeof ConnectedRow> | null> => {
  const listener = await tx.maybeOne(connectedRow`
    UPDATE listeners
    SET last_contact_at = ${sql.timestamp(now)},
        acknowledged_number = greatest(acknowledged_number, least(${lastNumber}::bigint, last_number))
    WHERE id = ${id} AND user_id = ${userId} AND mode = ${mode}
      AND last_contact_at > ${sql.timestamp(getListenersSince(now))}
    RETURNING acknowledged_number AS "acknowledgedNumber", sealed_secret AS sealed,
      secret_key_name AS "keyName"
  `);
  if (listener === null) return null;
  await tx.query(sqlVoid`
    DELETE FROM listener_events
    WHERE listener_id = ${id} AND number <= ${listener.acknowledgedNumber}::bigint
  `);
  return listener;
};

const LockedListenerRow = z.object({
  id: z.string(),
  userId: z.string(),
  mode: Mode,
  dateCreated: z.date(),
  lastNumber: Int8,
});
const { columns: lockedColumns } = defineTable(LockedListenerRow);

/** A listener that is locked until the transaction ends. */
export type LockedListener = z.output<typeof LockedListenerRow>;

/**
 * Locks the accounts' listeners. Until the transaction ends, no other transaction can add events to
 * them. The numbers of their events are therefore committed in order.
 */
export const lockListeners = (
  tx: Transaction,
  userIds: readonly string[],
  now: Date,
): Promise<readonly LockedListener[]> =>
  tx.any(sql.prepared("lock_listeners", LockedListenerRow)`
    SELECT ${lockedColumns} FROM listeners
    WHERE user_id = ANY(${sql.array([...userIds], "text")})
      AND last_contact_at > ${sql.timestamp(getListenersSince(now))}
    ORDER BY id FOR NO KEY UPDATE
  `);

const EventRow = z.object({
  number: Int8,
  id: z.string(),
  linkId: z.string(),
  eventType: z.enum(webhookTypes),
  occurredAt: z.date(),
  transaction: StoredTransaction.nullable(),
});
const NewEventRow = EventRow.omit({ id: true, number: true }).extend({
  listenerId: z.string(),
  number: z.int(),
  eventId: z.string(),
});
const { names: newEventColumns } = defineTable(NewEventRow);
const newEventRows = createJsonRecordset(NewEventRow, { transaction: "jsonb", number: "int8" });
const eventRow = sql.type(EventRow);
const { columns: eventColumns } = defineTable(EventRow, {
  expressions: { id: sql.fragment`event_id` },
});

/** An event to store for a listener. */
export type NewListenerEvent = ListenerEvent & { listenerId: string };

/**
 * Stores events for their listeners, which must be locked. Deletes the oldest events of a listener
 * that has more than the maximum.
 */
export const insertListenerEvents = async (
  tx: Transaction,
  events: readonly NewListenerEvent[],
): Promise<void> => {
  if (events.length === 0) return;
  const rows = events.map(({ id: eventId, ...event }) => ({ ...event, eventId }));
  await tx.query(sqlVoid`
    INSERT INTO listener_events (${newEventColumns})
    SELECT ${newEventColumns} FROM (${newEventRows(rows)}) AS event
  `);
  const lastNumbers = new Map(events.map(({ listenerId, number }) => [listenerId, number]));
  const lastNumberRows = [...lastNumbers];
  await tx.query(sqlVoid`
    WITH latest AS (
      SELECT * FROM ${sql.unnest(lastNumberRows, ["text", "int8"])} AS latest (id, number)
    ), deleted AS (
      DELETE FROM listener_events USING latest
      WHERE listener_id = latest.id
        AND listener_events.number <= latest.number - ${listenerEventsMax}
    )
    UPDATE listeners SET last_number = latest.number FROM latest WHERE listeners.id = latest.id
  `);
};

const LastNumberRow = z.object({ id: z.string(), lastNumber: Int8 });
const lastNumberRow = sql.type(LastNumberRow);
const { columns: lastNumberColumns } = defineTable(LastNumberRow);

/** Returns the number of the last event of each listener. Omits listeners that were deleted. */
export const readLastNumbers = async (
  pool: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await pool.any(lastNumberRow`
    SELECT ${lastNumberColumns} FROM listeners WHERE id = ANY(${sql.array([...ids], "text")})
  `);
  return new Map(rows.map(({ id, lastNumber }) => [id, lastNumber]));
};

/** Lists the events of a listener after a number, in order. */
export const listListenerEvents = (
  pool: Db,
  { listenerId, after, limit }: { listenerId: string; after: number; limit: number },
): Promise<readonly ListenerEvent[]> =>
  pool.any(eventRow`
    SELECT ${eventColumns} FROM listener_events
    WHERE listener_id = ${listenerId} AND number > ${after}::bigint
    ORDER BY number LIMIT ${limit}
  `);
