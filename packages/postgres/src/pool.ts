import {
  type DatabasePool,
  type Interceptor,
  SchemaValidationError,
  createPool,
  type QueryResultRow,
} from "slonik";
import type { Log } from "@payment-links/runtime";
import { createDeadlineDriver } from "./deadline-driver.ts";

export type Pool = DatabasePool;

/**
 * Validates every row against its query's schema. If a query no longer matches its schema, the
 * error is thrown here.
 */
const validateRows: Interceptor = {
  name: "check-rows",
  transformRow: ({ resultParser }, query, row) => {
    if (resultParser === undefined) return row;
    const result = resultParser["~standard"].validate(row);
    if (result instanceof Promise) throw new TypeError("row schemas must be synchronous");
    if (result.issues !== undefined) {
      // The log shows only the cause. It never shows the row or the values in the error.
      const cause = new TypeError(describeIssues(result.issues));
      throw Object.assign(new SchemaValidationError(query, row, result.issues), { cause });
    }
    return result.value as QueryResultRow;
  },
};

type Issue = { message: string; path?: readonly unknown[] | undefined };

const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`).join("; ");

/** How long a connection has to close gracefully before it is terminated. */
const terminationTimeoutMs = 200;

/**
 * The timeout is long, because a process that has just started on a busy machine can read the
 * server's response seconds late.
 */
export const connectTimeoutMs = 5_000;

export type PoolOptions = {
  url: string;
  applicationName: string;
  connectionsMax: number;
  statementTimeoutMs?: number;
  log: Log;
};

/**
 * Connects a service's pool. Throws if the database is unreachable.
 *
 * - `numeric` and `int8` arrive as strings and `timestamptz` as `Date`, because the driver's own
 *   parsers would convert amounts to floats.
 * - Numbers inside `jsonb` arrive as floats, so amounts there must be strings.
 * - Connections are not reset on release, which saves a round trip. Therefore, session state (SET,
 *   temporary tables, session locks) is forbidden.
 */
export const connectPool = async (options: PoolOptions): Promise<Pool> => {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000;
  const pool = await createPool(addConnectionSettings(options.url, options.applicationName), {
    driverFactory: createDeadlineDriver(statementTimeoutMs),
    maxPoolSize: options.connectionsMax,
    statementTimeout: statementTimeoutMs,
    idleInTransactionSessionTimeout: statementTimeoutMs,
    idleTimeout: 60_000,
    connectionTimeout: connectTimeoutMs,
    // The caller retries, because only the caller knows how long a retry makes sense.
    connectionRetryLimit: 0,
    gracefulTerminationTimeout: terminationTimeoutMs,
    typeParsers: [],
    interceptors: [validateRows],
    resetConnection: async () => {},
  });
  pool.on("error", (error) => options.log.warn({ err: error }, "pooled connection failed"));
  return pool;
};

/**
 * Postgres keeps a cached plan until the statistics change. For a small table, it chooses a
 * sequential scan, which becomes slow when the table grows a thousandfold before it is analyzed
 * again. All statements can use an index, so sequential scans are disabled.
 */
const disableSequentialScans = "-c enable_seqscan=off";

/** The `options` in the URL come last, so that they override these settings. */
const addConnectionSettings = (url: string, applicationName: string): string => {
  const connectionUrl = new URL(url);
  const { searchParams } = connectionUrl;
  searchParams.set("application_name", applicationName);
  searchParams.set(
    "options",
    [disableSequentialScans, searchParams.get("options") ?? ""].join(" ").trim(),
  );
  return connectionUrl.href;
};
