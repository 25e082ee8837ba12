import { sql } from "slonik";
import * as z from "zod";
import { type Pool, type Transaction, sqlVoid, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, afterMs, startLoop } from "@payment-links/runtime";
import { type OutgoingEvent, publish } from "./outbox.ts";

/** A kind of resource whose current state a service can publish again. */
export type RepublishSource = {
  /** The name that operators use. */
  resource: string;
  /** The table, and the column that orders it: unique, indexed and never changed. */
  table: string;
  column: string;
  /**
   * Locks the rows at these cursors and returns the events with their current state. Omits rows
   * that have nothing to publish.
   */
  readEvents: (tx: Transaction, cursors: readonly string[], now: Date) => Promise<OutgoingEvent[]>;
};

const Republish = z.object({
  askedAt: z.date(),
  publishedCount: z.int(),
  endedAt: z.date().nullable(),
});

/** The status of a republish. The republish is running while `endedAt` is null. */
export type Republish = z.output<typeof Republish>;

/**
 * Requests a republish of all resources. A running republish starts over, because a consumer may
 * have been restored to a state before the events that were already published. Returns the status.
 */
export const requestRepublish = (pool: Pool, resource: string, now: Date): Promise<Republish> =>
  pool.one(sql.type(Republish)`
    INSERT INTO republishes (what, asked_at) VALUES (${resource}, ${sql.timestamp(now)})
    ON CONFLICT (what) DO UPDATE SET
      asked_at = excluded.asked_at, after_place = NULL, published_count = 0, paged_at = NULL,
      ended_at = NULL
    RETURNING ${columns}
  `);

/** Returns the status of the last republish; undefined if none was ever requested. */
export const findRepublish = async (pool: Pool, resource: string): Promise<Republish | undefined> =>
  (await pool.maybeOne(selectRepublishQuery(resource))) ?? undefined;

const columns = sql.fragment`
  asked_at AS "askedAt", published_count AS "publishedCount", ended_at AS "endedAt"
`;

const selectRepublishQuery = (resource: string) => sql.type(Republish)`
  SELECT ${columns} FROM republishes WHERE what = ${resource}
`;

/** A live event waits behind at most this many events, here and at every consumer. */
const pageSize = 100;
/**
 * If more events than this are unsent, they are live events or the previous page, and the next page
 * waits for them.
 */
const unsentEventsMax = 20;
/** The minimum time between two pages, across all replicas. */
const pageIntervalMs = 100;
/** A fallback: the replica that receives the request starts immediately, but it may fail. */
const idlePollMs = 5_000;

/**
 * Starts the republish loop. Every replica runs it, and replicas take turns. `wake` starts a run
 * immediately.
 */
export const startRepublishLoop = (options: {
  pool: Pool;
  source: RepublishSource;
  clock: Clock;
  log: Log;
  /** Called after each page. */
  afterCommit: () => void;
}): Loop => {
  const { afterCommit, clock, log, pool, source } = options;
  const { resource } = source;
  return startLoop({
    name: `republish ${resource}`,
    clock,
    log,
    waitMs: idlePollMs,
    run: async () => {
      const republish = await findRepublish(pool, resource);
      if (republish === undefined || republish.endedAt !== null) return;
      const page = await republishPage(pool, source, clock.now());
      if (page.isEnded)
        log.info({ what: resource, count: page.publishedCount }, "republish finished");
      if (page.isWritten) afterCommit();
      return page.isEnded ? undefined : afterMs(clock, pageIntervalMs);
    },
  });
};

/**
 * Publishes one page of a running republish if it is due: the pause is over, the outbox is almost
 * empty and no other replica holds the lock. Events and progress are written in one transaction.
 */
export const republishPage = (
  pool: Pool,
  source: RepublishSource,
  now: Date,
): Promise<{ isWritten: boolean; isEnded: boolean; publishedCount: number }> =>
  transact(pool, async (tx) => {
    const progress = await lockRepublish(tx, source.resource, now);
    if (progress === undefined) return { isWritten: false, isEnded: false, publishedCount: 0 };
    const { cursors, isLast } = await lockPage(tx, source, progress.afterPlace);
    const events = cursors.length === 0 ? [] : await source.readEvents(tx, cursors, now);
    await publish(tx, events);
    const publishedCount = progress.publishedCount + events.length;
    await tx.query(sqlVoid`
      UPDATE republishes SET
        after_place = ${cursors.at(-1) ?? progress.afterPlace}, published_count = ${publishedCount},
        paged_at = ${sql.timestamp(now)},
        ended_at = ${isLast ? sql.timestamp(now) : sql.fragment`NULL`}
      WHERE what = ${source.resource}
    `);
    return { isWritten: events.length > 0, isEnded: isLast, publishedCount };
  });

const RepublishProgress = z.object({ afterPlace: z.string().nullable(), publishedCount: z.int() });

/**
 * Locks a running republish if its pause is over. A `paged_at` in the future comes from a replica
 * whose clock runs ahead, and is ignored.
 */
const lockRepublish = async (tx: Transaction, resource: string, now: Date) => {
  const pausedSince = new Date(now.getTime() - pageIntervalMs);
  const progress = await tx.maybeOne(sql.type(RepublishProgress)`
    SELECT after_place AS "afterPlace", published_count AS "publishedCount" FROM republishes
    WHERE what = ${resource} AND ended_at IS NULL
      AND (paged_at IS NULL OR paged_at <= ${sql.timestamp(pausedSince)}
        OR paged_at > ${sql.timestamp(now)})
      AND NOT EXISTS (SELECT FROM outbox ORDER BY seq OFFSET ${unsentEventsMax} LIMIT 1)
    FOR UPDATE SKIP LOCKED
  `);
  return progress ?? undefined;
};

const CursorRow = z.object({ place: z.string() });

/**
 * Locks the rows after a cursor, in order, so that a republished state never follows a newer one in
 * the log. Waits only for the first row, while it holds no other lock, because other transactions
 * lock rows in a different order. The page ends before a row that another transaction has locked. A
 * new row publishes its own event.
 */
const lockPage = async (
  tx: Transaction,
  { table, column }: RepublishSource,
  afterCursor: string | null,
): Promise<{ cursors: readonly string[]; isLast: boolean }> => {
  const tableIdentifier = sql.identifier([table]);
  const columnIdentifier = sql.identifier([column]);
  const afterCondition =
    afterCursor === null ? sql.fragment`true` : sql.fragment`${columnIdentifier} > ${afterCursor}`;
  const pageCursors = await tx.anyFirst(sql.type(CursorRow)`
    SELECT ${columnIdentifier}::text AS place FROM ${tableIdentifier} WHERE ${afterCondition} ORDER BY ${columnIdentifier} LIMIT ${pageSize}
  `);
  const [firstCursor] = pageCursors;
  const lastCursor = pageCursors.at(-1);
  if (firstCursor === undefined || lastCursor === undefined) return { cursors: [], isLast: true };
  await tx.query(
    sqlVoid`SELECT FROM ${tableIdentifier} WHERE ${columnIdentifier} = ${firstCursor} FOR NO KEY UPDATE`,
  );
  const lockedCursors = new Set(
    await tx.anyFirst(sql.type(CursorRow)`
      SELECT ${columnIdentifier}::text AS place FROM ${tableIdentifier} WHERE ${columnIdentifier} >= ${firstCursor} AND ${columnIdentifier} <= ${lastCursor}
      FOR NO KEY UPDATE SKIP LOCKED
    `),
  );
  const lockedElsewhereIndex = pageCursors.findIndex((cursor) => !lockedCursors.has(cursor));
  if (lockedElsewhereIndex !== -1)
    return { cursors: pageCursors.slice(0, lockedElsewhereIndex), isLast: false };
  return { cursors: pageCursors, isLast: pageCursors.length < pageSize };
};
