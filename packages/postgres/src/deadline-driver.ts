import { AsyncLocalStorage } from "node:async_hooks";
import { createPgDriverFactory } from "@slonik/pg-driver";

type DriverFactory = ReturnType<typeof createPgDriverFactory>;
type QueryResult = Awaited<ReturnType<DriverClient["query"]>>;
type DriverClient = Awaited<ReturnType<Awaited<ReturnType<DriverFactory>>["createClient"]>>;

/** No answer came in time: the database is frozen, or the way to it swallows what is sent. */
class StatementDeadlineError extends Error {
  override readonly name = "StatementDeadlineError";
  readonly code = "ETIMEDOUT";
}

/** How much longer than Postgres' own limit we wait: it should be the one to say so. */
const graceMs = 500;

const statementMsOverride = new AsyncLocalStorage<number>();

/** Runs work whose statements may take longer than usual. */
export const withStatementMsMax = <Result>(
  statementMsMax: number,
  operation: () => Promise<Result>,
): Promise<Result> => statementMsOverride.run(statementMsMax, operation);

/**
 * slonik's driver with a deadline of ours for every statement. Postgres' own `statement_timeout`
 * needs a Postgres that runs: one that is frozen, or cut off without a word, keeps a caller waiting
 * for as long as it is silent. A connection that let a statement's deadline pass is thrown away.
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
        deadlineError = new StatementDeadlineError(`the database was silent for ${deadlineMs} ms`);
        reject(deadlineError);
        // With a statement under way, it cuts the socket.
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
