import * as z from "zod";
import { sql } from "slonik";
import { type Clock, afterMs } from "@payment-links/runtime";
import { causesOf } from "./causes-of.ts";
import { type Migration, listMigrations } from "./migrate.ts";
import { type Pool, type PoolOptions, openPool } from "./pool.ts";

type MigratedPoolOptions = PoolOptions & {
  migration: Pick<Migration, "schema" | "folders">;
  clock: Clock;
  /** Hears at each look what is being waited for, in words. */
  waiting: (reason: string) => void;
};

const lookEveryMs = 1_000;
/** A process that is told to stop ends even while it waits. */
const never = new AbortController().signal;

/**
 * Opens the pool of one service once its schema is at least as new as the code. Until then it
 * waits, however long: for a database that is away, a role that is not made yet, or migrations that
 * have not run. It throws only what waiting cannot heal, such as an address that cannot be read.
 */
export const openMigratedPool = async (options: MigratedPoolOptions): Promise<Pool> => {
  const { clock, migration, waiting } = options;
  const needed = await listMigrations(migration.folders);
  for (;;) {
    const found = await tryOpen(options, needed);
    if (typeof found !== "string") return found;
    waiting(found);
    await clock.until(afterMs(clock, lookEveryMs), never);
  }
};

/** The pool, or why there is none yet. */
const tryOpen = async (
  options: MigratedPoolOptions,
  needed: readonly string[],
): Promise<Pool | string> => {
  const { schema } = options.migration;
  let pool: Pool | undefined;
  try {
    pool = await openPool(options);
    const applied = new Set(await readApplied(pool));
    const missing = needed.filter((name) => !applied.has(name));
    if (missing.length === 0) return pool;
    // A session keeps the search path that its role had when the session began. So each look opens
    // a new one.
    await pool.end();
    const files = missing.length === 1 ? "migration" : `${missing.length} migrations, from`;
    return `schema ${schema} is older than this version: it lacks ${files} ${missing[0]}`;
  } catch (error) {
    await pool?.end();
    const reason = explain(error, schema);
    if (reason === undefined) throw error;
    return reason;
  }
};

const AppliedRow = z.object({ name: z.string() });

const readApplied = async (pool: Pool): Promise<string[]> => {
  const rows = await pool.any(sql.type(AppliedRow)`SELECT name FROM migrations`);
  return rows.map(({ name }) => name);
};

/** By SQLSTATE, or its class. */
const reasons: readonly [RegExp, (schema: string) => string][] = [
  [/^28/, (schema) => `the role of ${schema} cannot sign in yet: the migrations make it`],
  [/^3D/, () => "the database does not exist yet"],
  [/^(?:3F|42P01|42501)/, (schema) => `schema ${schema} is not made yet: the migrations make it`],
  [/^(?:08|53|57)/, () => "the database does not accept connections now"],
  // Of the operating system, such as ECONNREFUSED, ETIMEDOUT or ENOTFOUND.
  [/^E[A-Z_]+$/, () => "the database cannot be reached"],
];

const explain = (error: unknown, schema: string): string | undefined => {
  const chain = causesOf(error);
  for (const { code } of chain) {
    const [, tell] = reasons.find(([pattern]) => pattern.test(code)) ?? [];
    if (tell !== undefined) return tell(schema);
  }
  // pg's own, which have no code.
  const isCut = chain.some(({ error: { message } }) =>
    /timeout|timed out|terminated/i.test(message),
  );
  return isCut ? "the database cannot be reached" : undefined;
};
