import * as z from "zod";
import { sql } from "slonik";
import { type Clock, afterMs } from "@payment-links/runtime";
import { listCauses } from "./list-causes.ts";
import { type Migration, listMigrations } from "./migrate.ts";
import { type Pool, type PoolOptions, connectPool } from "./pool.ts";

type MigratedPoolOptions = PoolOptions & {
  migration: Pick<Migration, "schema" | "folders">;
  clock: Clock;
  /** Called at each attempt with a readable reason why the pool is not available yet. */
  onWait: (reason: string) => void;
};

const retryIntervalMs = 1_000;

/**
 * Connects a service's pool once its schema is at least as new as the code. Waits without a time
 * limit while the database is unavailable, the role is missing, or migrations are missing. Throws
 * only errors that waiting cannot fix, such as an invalid URL.
 */
export const connectMigratedPool = async (options: MigratedPoolOptions): Promise<Pool> => {
  const { clock, migration, onWait } = options;
  const requiredNames = await listMigrations(migration.folders);
  for (;;) {
    const poolOrReason = await tryConnect(options, requiredNames);
    if (typeof poolOrReason !== "string") return poolOrReason;
    onWait(poolOrReason);
    // A process that receives a stop signal exits even during this wait.
    await clock.sleepUntil(afterMs(clock, retryIntervalMs));
  }
};

/** Returns the pool, or the reason why it is not available yet. */
const tryConnect = async (
  options: MigratedPoolOptions,
  requiredNames: readonly string[],
): Promise<Pool | string> => {
  const { schema } = options.migration;
  let pool: Pool | undefined;
  try {
    pool = await connectPool(options);
    const appliedNames = new Set(await readAppliedNames(pool));
    const missingNames = requiredNames.filter((name) => !appliedNames.has(name));
    if (missingNames.length === 0) return pool;
    // Each attempt needs a new session, because a session keeps the search path that its role had
    // at login.
    await pool.end();
    const missingLabel =
      missingNames.length === 1 ? "migration" : `${missingNames.length} migrations, starting with`;
    return `schema ${schema} is older than this version: missing ${missingLabel} ${missingNames[0]}`;
  } catch (error) {
    await pool?.end();
    const waitReason = explainWait(error, schema);
    if (waitReason === undefined) throw error;
    return waitReason;
  }
};

const AppliedRow = z.object({ name: z.string() });

const readAppliedNames = async (pool: Pool): Promise<string[]> => {
  const rows = await pool.any(sql.type(AppliedRow)`SELECT name FROM migrations`);
  return rows.map(({ name }) => name);
};

/** The reasons by SQLSTATE or SQLSTATE class. */
const waitReasons: readonly [RegExp, (schema: string) => string][] = [
  [/^28/, (schema) => `the role of ${schema} cannot log in yet; the migrations create it`],
  [/^3D/, () => "the database does not exist yet"],
  [
    /^(?:3F|42P01|42501)/,
    (schema) => `schema ${schema} is not set up yet; the migrations create it`,
  ],
  [/^(?:08|53|57)/, () => "the database does not accept connections"],
  // Error codes of the operating system, such as ECONNREFUSED, ETIMEDOUT or ENOTFOUND.
  [/^E[A-Z_]+$/, () => "the database cannot be reached"],
];

const explainWait = (error: unknown, schema: string): string | undefined => {
  const causes = listCauses(error);
  for (const { code } of causes) {
    const [, formatReason] = waitReasons.find(([pattern]) => pattern.test(code)) ?? [];
    if (formatReason !== undefined) return formatReason(schema);
  }
  // pg's own errors have no code.
  const isConnectionLost = causes.some(({ error: { message } }) =>
    /timeout|timed out|terminated/i.test(message),
  );
  return isConnectionLost ? "the database cannot be reached" : undefined;
};
