import { AsyncLocalStorage } from "node:async_hooks";
import { createPgDriverFactory } from "@slonik/pg-driver";

type DriverFactory = ReturnType<typeof createPgDriverFactory>;
type QueryResult = Awaited<ReturnType<DriverClient["query"]>>;
type DriverClient = Awaited<ReturnType<Awaited<ReturnType<DriverFactory>>["createClient"]>>;

/** No response arrived in time: the database is frozen, or the network drops packets silently. */
class StatementDeadlineError extends Error {
  override readonly name = "StatementDeadlineError";
  readonly code = "ETIMEDOUT";
}

/**
 * How much longer than Postgres' own timeout the client waits, so that Postgres normally reports
 * the timeout.
 */
const graceMs = 500;

const statementMsOverride = new AsyncLocalStorage<number>();

/** Runs an operation whose statements can take longer than the default timeout. */
export const withStatementMsMax = <Result>(
  statementMsMax: number,
  operation: () => Promise<Result>,
): Promise<Result> => statementMsOverride.run(statementMsMax, operation);

/**
 * Creates slonik's driver with a client-side deadline for every statement. Postgres can enforce its
 * own `statement_timeout` only while it runs. Without a deadline, callers would wait indefinitely
 * if Postgres freezes or the network silently drops packets. If a statement misses its deadline,
 * its connection is destroyed.
 */
export const createDeadlineDriver = (statementMsMax: number): DriverFactory => {
  const createDriver = createPgDriverFactory();
  return async (options) => {
    const driver = await createDriver(options);
    return { createClient: async () => addDeadlines(await driver.createClient(), statementMsMax) };
  };
};

const addDeadlines = (client: DriverClient, statementMsMax: number): DriverClient => {
  let deadlineError: StatementDeadlineError | undefined;
  return {
    ...client,
    query: (sql, values, options) => {
      if (deadlineError !== undefined) return Promise.reject(deadlineError);
      const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
      const deadlineMs = (statementMsOverride.getStore() ?? statementMsMax) + graceMs;
      const timer = setTimeout(() => {
        deadlineError = new StatementDeadlineError(
          `the database did not respond for ${deadlineMs} ms`,
        );
        reject(deadlineError);
        // If a statement is in flight, this closes the socket.
        client.destroy().catch(() => {});
      }, deadlineMs);
      client.query(sql, values, options).then(
        (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
      return promise;
    },
  };
};
