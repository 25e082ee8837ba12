import { sql } from "slonik";
import * as z from "zod";
import { type Pool, type Transaction, nothing, transact } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, afterMs, startLoop } from "@payment-links/runtime";
import { type OutgoingEvent, publish } from "./outbox.ts";

/** Things whose present state a service can tell again. */
export type Republishing = {
  /** What operators call them. */
  what: string;
  /** Their table, and a column that orders it: unique, indexed, never changed. */
  table: string;
  column: string;
  /**
   * What to tell of the things at these places, whose rows are locked: the state as it stands. Where
   * there is nothing to tell of a thing, it is left out.
   */
  read: (tx: Transaction, places: readonly string[], now: Date) => Promise<OutgoingEvent[]>;
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
export const askToRepublish = (pool: Pool, what: string, now: Date): Promise<Republish> =>
  pool.one(sql.type(Republish)`
    INSERT INTO republishes (what, asked_at) VALUES (${what}, ${sql.timestamp(now)})
    ON CONFLICT (what) DO UPDATE SET
      asked_at = excluded.asked_at, after_place = NULL, published_count = 0, paged_at = NULL,
      ended_at = NULL
    RETURNING ${columns}
  `);

/** How the last republication stands; undefined if none was ever asked for. */
export const findRepublish = async (pool: Pool, what: string): Promise<Republish | undefined> =>
  (await pool.maybeOne(selectRepublish(what))) ?? undefined;

const columns = sql.fragment`
  asked_at AS "askedAt", published_count AS "publishedCount", ended_at AS "endedAt"
`;

const selectRepublish = (what: string) => sql.type(Republish)`
  SELECT ${columns} FROM republishes WHERE what = ${what}
`;

/** A live event waits behind no more than this, here and at every consumer. */
const pageRows = 100;
/** More unsent events than this are live ones, or the page before: they go first. */
const unsentMax = 20;
/** All replicas together write a page no more often than this. */
const pauseMs = 100;
/** Whoever is asked looks at once; this is for the others, should that one end. */
const idleMs = 5_000;

/**
 * Starts to tell again what an operator asks for, in every replica; they take turns. Woken, it looks
 * at once.
 */
export const startRepublishing = (options: {
  pool: Pool;
  republishing: Republishing;
  clock: Clock;
  log: Log;
  /** Called after each page. */
  afterCommit: () => void;
}): Loop => {
  const { afterCommit, clock, log, pool, republishing } = options;
  const { what } = republishing;
  return startLoop({
    name: `republish ${what}`,
    clock,
    log,
    waitMs: idleMs,
    run: async () => {
      const found = await findRepublish(pool, what);
      if (found === undefined || found.endedAt !== null) return;
      const page = await republishPage(pool, republishing, clock.now());
      if (page.isEnded) log.info({ what, count: page.publishedCount }, "all was told again");
      if (page.isWritten) afterCommit();
      return page.isEnded ? undefined : afterMs(clock, pauseMs);
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
  republishing: Republishing,
  now: Date,
): Promise<{ isWritten: boolean; isEnded: boolean; publishedCount: number }> =>
  transact(pool, async (tx) => {
    const turn = await takeTurn(tx, republishing.what, now);
    if (turn === undefined) return { isWritten: false, isEnded: false, publishedCount: 0 };
    const { places, isLast } = await lockPage(tx, republishing, turn.afterPlace);
    const events = places.length === 0 ? [] : await republishing.read(tx, places, now);
    await publish(tx, events);
    const publishedCount = turn.publishedCount + events.length;
    await tx.query(nothing`
      UPDATE republishes SET
        after_place = ${places.at(-1) ?? turn.afterPlace}, published_count = ${publishedCount},
        paged_at = ${sql.timestamp(now)},
        ended_at = ${isLast ? sql.timestamp(now) : sql.fragment`NULL`}
      WHERE what = ${republishing.what}
    `);
    return { isWritten: events.length > 0, isEnded: isLast, publishedCount };
  });

const Turn = z.object({ afterPlace: z.string().nullable(), publishedCount: z.int() });

/** A pause that would end only in the future is one of a replica whose clock is ahead. */
const takeTurn = async (tx: Transaction, what: string, now: Date) => {
  const pausedFrom = new Date(now.getTime() - pauseMs);
  const turn = await tx.maybeOne(sql.type(Turn)`
    SELECT after_place AS "afterPlace", published_count AS "publishedCount" FROM republishes
    WHERE what = ${what} AND ended_at IS NULL
      AND (paged_at IS NULL OR paged_at <= ${sql.timestamp(pausedFrom)}
        OR paged_at > ${sql.timestamp(now)})
      AND NOT EXISTS (SELECT FROM outbox ORDER BY seq OFFSET ${unsentMax} LIMIT 1)
    FOR UPDATE SKIP LOCKED
  `);
  return turn ?? undefined;
};

const Place = z.object({ place: z.string() });

/**
 * Locks the things that follow a place, in their order, so that what is told of them never comes
 * after a newer state in the log. Only the first is waited for, while no other is held: others lock
 * many in an order of their own. The page ends before a thing that somebody else has locked. A new
 * thing tells of itself.
 */
const lockPage = async (
  tx: Transaction,
  { table, column }: Republishing,
  afterPlace: string | null,
): Promise<{ places: readonly string[]; isLast: boolean }> => {
  const from = sql.identifier([table]);
  const at = sql.identifier([column]);
  const after = afterPlace === null ? sql.fragment`true` : sql.fragment`${at} > ${afterPlace}`;
  const listed = await tx.anyFirst(sql.type(Place)`
    SELECT ${at}::text AS place FROM ${from} WHERE ${after} ORDER BY ${at} LIMIT ${pageRows}
  `);
  const [first] = listed;
  const last = listed.at(-1);
  if (first === undefined || last === undefined) return { places: [], isLast: true };
  await tx.query(nothing`SELECT FROM ${from} WHERE ${at} = ${first} FOR NO KEY UPDATE`);
  const locked = new Set(
    await tx.anyFirst(sql.type(Place)`
      SELECT ${at}::text AS place FROM ${from} WHERE ${at} >= ${first} AND ${at} <= ${last}
      FOR NO KEY UPDATE SKIP LOCKED
    `),
  );
  const heldAt = listed.findIndex((place) => !locked.has(place));
  if (heldAt !== -1) return { places: listed.slice(0, heldAt), isLast: false };
  return { places: listed, isLast: listed.length < pageRows };
};
