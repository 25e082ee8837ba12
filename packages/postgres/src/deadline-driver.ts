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

/** How much longer than Postgres' own limit we wait, so that Postgres normally reports the time-out. */
const graceMs = 500;

const statementMsOverride = new AsyncLocalStorage<number>();

/** Runs an operation whose statements may take longer than the default. */
export const withStatementMsMax = <Result>(
  statementMsMax: number,
  operation: () => Promise<Result>,
): Promise<Result> => statementMsOverride.run(statementMsMax, operation);

/**
 * Creates slonik's driver with a client-side deadline for every statement. Postgres' own
 * `statement_timeout` works only while Postgres runs. Without a deadline, a frozen or silently
 * disconnected Postgres would block its callers indefinitely. A connection whose statement missed
 * its deadline is destroyed.
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
        // Cuts the socket if a statement is in flight.
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
