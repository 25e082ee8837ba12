import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { ApiError } from "@payment-links/contracts";
import { withStatementMsMax } from "./deadline-driver.ts";
import type { Pool } from "./pool.ts";

/** Runs statements: the pool or a transaction. */
export type Db = CommonQueryMethods;

/** Statements that take effect together or not at all. */
export type Transaction = DatabaseTransactionConnection;

/**
 * Runs an operation in one transaction and returns its result. Reruns it when Postgres had to break
 * a deadlock or reports a serialization failure. If the operation throws, the transaction is rolled
 * back. slonik then closes the connection, because it cannot know what went wrong. An `ApiError`
 * does not affect the connection, so the connection stays open.
 */
export const transact = async <Result>(
  pool: Pool,
  operation: (tx: Transaction) => Promise<Result>,
): Promise<Result> => {
  const outcome = await pool.connect(async (connection) => {
    try {
      return { result: await connection.transaction(operation) };
    } catch (error) {
      // The transaction is already rolled back. Returning the error hides it from slonik, which
      // would close the connection.
      if (error instanceof ApiError) return { refusal: error };
      throw error;
    }
  });
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome.result;
};

const SettingRow = z.object({ setting: z.string() });

/** Raises the statement timeout for a part of a transaction. */
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
