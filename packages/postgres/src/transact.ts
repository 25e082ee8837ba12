import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { ApiError } from "@payment-links/contracts";
import { withStatementMsMax } from "./deadline-driver.ts";
import type { Pool } from "./pool.ts";

/** Something that runs statements: the pool or a transaction. */
export type Db = CommonQueryMethods;

/** A transaction. Its statements take effect together or not at all. */
export type Transaction = DatabaseTransactionConnection;

type EndHook = (isCommitted: boolean) => void;

const endHooks = new WeakMap<Transaction, EndHook[]>();

/**
 * Calls the hook when the transaction has ended. After a lost connection, a transaction for which
 * `isCommitted` is false can be committed nevertheless. Requires a transaction of
 * {@link transact}.
 */
export const onTransactionEnd = (tx: Transaction, hook: EndHook): void => {
  const hooks = endHooks.get(tx);
  if (hooks === undefined) throw new TypeError("only a transaction of transact can have hooks");
  hooks.push(hook);
};

/** Calls the hook after the transaction has committed. Requires a transaction of {@link transact}. */
export const afterCommit = (tx: Transaction, hook: () => void): void =>
  onTransactionEnd(tx, (isCommitted) => {
    if (isCommitted) hook();
  });

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
  let hooks: EndHook[] = [];
  const callHooks = (isCommitted: boolean): void => {
    const endedHooks = hooks;
    hooks = [];
    for (const hook of endedHooks) hook(isCommitted);
  };
  const run = (tx: Transaction): Promise<Result> => {
    // The hooks of an earlier run, which was rolled back.
    callHooks(false);
    endHooks.set(tx, hooks);
    return operation(tx);
  };
  const outcome = await pool.connect(async (connection) => {
    let isCommitted = false;
    try {
      const result = await connection.transaction(run);
      isCommitted = true;
      return { result };
    } catch (error) {
      // The transaction is already rolled back. The error is returned, because slonik would close
      // the connection if it were thrown.
      if (error instanceof ApiError) return { refusal: error };
      throw error;
    } finally {
      // Here, because `pool.connect` fails immediately if its connection is lost after the commit.
      callHooks(isCommitted);
    }
  });
  if ("refusal" in outcome) throw outcome.refusal;
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
