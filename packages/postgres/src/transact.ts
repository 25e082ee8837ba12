import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { ApiError } from "@payment-links/contracts";
import { withStatementMsMax } from "./deadline-driver.ts";
import type { Pool } from "./pool.ts";

/** Something that runs statements: the pool or a transaction. */
export type Db = CommonQueryMethods;

/** A transaction. Its statements take effect together or not at all. */
export type Transaction = DatabaseTransactionConnection;

const commitHooks = new WeakMap<Transaction, (() => void)[]>();

/** Calls the hook after the transaction has committed. Requires a transaction of {@link transact}. */
export const afterCommit = (tx: Transaction, hook: () => void): void => {
  const hooks = commitHooks.get(tx);
  if (hooks === undefined) throw new TypeError("only a transaction of transact can have hooks");
  hooks.push(hook);
};

/**
 * Runs an operation in one transaction and returns its result. Reruns the operation if Postgres
 * reports a deadlock or a serialization failure. If the operation throws, the transaction is rolled
 * back. slonik then closes the connection, because it cannot know what went wrong. After an
 * `ApiError`, the connection stays open, because such an error does not affect it.
 */
export const transact = async <Result>(
  pool: Pool,
  operation: (tx: Transaction) => Promise<Result>,
): Promise<Result> => {
  let hooks: (() => void)[] = [];
  const run = (tx: Transaction): Promise<Result> => {
    // Drops the hooks of an earlier run, which was rolled back.
    hooks = [];
    commitHooks.set(tx, hooks);
    return operation(tx);
  };
  const outcome = await pool.connect(async (connection) => {
    try {
      return { result: await connection.transaction(run) };
    } catch (error) {
      // The transaction is already rolled back. The error is returned, because slonik would close
      // the connection if it were thrown.
      if (error instanceof ApiError) return { refusal: error };
      throw error;
    }
  });
  if ("refusal" in outcome) throw outcome.refusal;
  for (const hook of hooks) hook();
  return outcome.result;
};

const SettingRow = z.object({ setting: z.string() });

/** Raises the statement timeout for one part of a transaction. */
export const withStatementTimeout = async <Result>(
  tx: Transaction,
  statementMsMax: number,
  operation: () => Promise<Result>,
): Promise<Result> => {
  await tx.one(sql.type(SettingRow)`
    SELECT set_config('statement_timeout', ${String(statementMsMax)}, true) AS setting
  `);
  return withStatementMsMax(statementMsMax, operation);
};
