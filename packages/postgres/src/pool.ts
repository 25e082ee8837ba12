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

/** Every row is checked against the schema of its query, so SQL that drifts fails here, loudly. */
const validateRows: Interceptor = {
  name: "check-rows",
  transformRow: ({ resultParser }, query, row) => {
    if (resultParser === undefined) return row;
    const result = resultParser["~standard"].validate(row);
    if (result instanceof Promise) throw new TypeError("row schemas are synchronous");
    if (result.issues !== undefined) {
      // The log tells the cause, never the row or the values that the error carries.
      const cause = new TypeError(describeIssues(result.issues));
      throw Object.assign(new SchemaValidationError(query, row, result.issues), { cause });
    }
    return result.value as QueryResultRow;
  },
};

type Issue = { message: string; path?: readonly unknown[] | undefined };

const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`).join("; ");

/** How long a connection that ends may take to say goodbye before it is cut. */
const terminationTimeoutMs = 200;

/** A process that has just started on a busy machine reads the server's response seconds late. */
export const connectTimeoutMs = 5_000;

export type PoolOptions = {
  url: string;
  applicationName: string;
  connectionsMax: number;
  statementTimeoutMs?: number;
  log: Log;
};

/**
 * Opens the pool of one service; throws if the database cannot be reached. `numeric` and `int8`
 * arrive as text and `timestamptz` as Date, because the driver's own parsers would turn money into
 * floats. Connections are not reset on release, which saves a round trip. So session state (SET,
 * temporary tables, session locks) is forbidden. Numbers inside `jsonb` are floats, so amounts
 * there are strings.
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
    // Whoever asked tries again, and knows for how long that is worth it.
    connectionRetryLimit: 0,
    gracefulTerminationTimeout: terminationTimeoutMs,
    typeParsers: [],
    interceptors: [validateRows],
    resetConnection: async () => {},
  });
  pool.on("error", (error) => options.log.warn({ err: error }, "a pooled connection failed"));
  return pool;
};

/**
 * A plan is kept while the statistics that it was made of stand, and those of a small table say that
 * reading all of it is cheapest. Every statement here finds its rows by an index, so that it costs the
 * same when the table has grown a thousandfold before anybody looks at it again.
 */
const disableSequentialScans = "-c enable_seqscan=off";

/** What the URL itself says of a setting comes behind ours, and so counts. */
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
