import { sql } from "slonik";
import * as z from "zod";
import { type Pool, type Transaction, sqlVoid, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, afterMs, startLoop } from "@payment-links/runtime";
import { type OutgoingEvent, publish } from "./outbox.ts";

/** Things whose present state a service can tell again. */
export type RepublishSource = {
  /** What operators call them. */
  resource: string;
  /** Their table, and a column that orders it: unique, indexed, never changed. */
  table: string;
  column: string;
  /**
   * What to tell of the things at these places, whose rows are locked: the state as it stands. Where
   * there is nothing to tell of a thing, it is left out.
   */
  readEvents: (tx: Transaction, cursors: readonly string[], now: Date) => Promise<OutgoingEvent[]>;
};

const Republish = z.object({
  askedAt: z.date(),
  publishedCount: z.int(),
  endedAt: z.date().nullable(),
});

/** How a republication stands. It runs until it has ended. */
export type Republish = z.output<typeof Republish>;

/**
 * Asks for everything to be told again, from now on: one that runs begins anew, as a consumer may
 * have been restored to before what it has told. Answers how it stands.
 */
export const requestRepublish = (pool: Pool, resource: string, now: Date): Promise<Republish> =>
  pool.one(sql.type(Republish)`
    INSERT INTO republishes (what, asked_at) VALUES (${resource}, ${sql.timestamp(now)})
    ON CONFLICT (what) DO UPDATE SET
      asked_at = excluded.asked_at, after_place = NULL, published_count = 0, paged_at = NULL,
      ended_at = NULL
    RETURNING ${columns}
  `);

/** How the last republication stands; undefined if none was ever asked for. */
export const findRepublish = async (pool: Pool, resource: string): Promise<Republish | undefined> =>
  (await pool.maybeOne(selectRepublishQuery(resource))) ?? undefined;

const columns = sql.fragment`
  asked_at AS "askedAt", published_count AS "publishedCount", ended_at AS "endedAt"
`;

const selectRepublishQuery = (resource: string) => sql.type(Republish)`
  SELECT ${columns} FROM republishes WHERE what = ${resource}
`;

/** A live event waits behind no more than this, here and at every consumer. */
const pageSize = 100;
/** More unsent events than this are live ones, or the page before: they go first. */
const unsentEventsMax = 20;
/** All replicas together write a page no more often than this. */
const pageIntervalMs = 100;
/** Whoever is asked looks at once; this is for the others, should that one end. */
const idlePollMs = 5_000;

/**
 * Starts to tell again what an operator asks for, in every replica; they take turns. Woken, it looks
 * at once.
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
        log.info({ what: resource, count: page.publishedCount }, "all was told again");
      if (page.isWritten) afterCommit();
      return page.isEnded ? undefined : afterMs(clock, pageIntervalMs);
    },
  });
};

/**
 * Tells one page again, if there is a republication whose turn has come: the pause is over, the
 * outbox is all but empty, and no other replica is at it. What is told and how far that goes is one
 * transaction.
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

/** A pause that would end only in the future is one of a replica whose clock is ahead. */
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
 * Locks the things that follow a place, in their order, so that what is told of them never comes
 * after a newer state in the log. Only the first is waited for, while no other is held: others lock
 * many in an order of their own. The page ends before a thing that somebody else has locked. A new
 * thing tells of itself.
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
