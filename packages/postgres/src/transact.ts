import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import * as z from "zod";
import { ApiError } from "@payment-links/contracts";
import { withStatementMsMax } from "./deadline-driver.ts";
import type { Pool } from "./pool.ts";

/** Where statements run: the pool, or a transaction. */
export type Db = CommonQueryMethods;

/** Statements that take effect together or not at all. */
export type Transaction = DatabaseTransactionConnection;

/**
 * Runs work in one transaction and answers what it answers; runs it again where Postgres had to break a
 * deadlock. Work that throws leaves nothing behind. slonik then closes the connection, as it cannot
 * know what went wrong; a refusal is no fault of the connection, so it stays.
 */
export const transact = async <Result>(
  pool: Pool,
  operation: (tx: Transaction) => Promise<Result>,
): Promise<Result> => {
  const outcome = await pool.connect(async (connection) => {
    try {
      return { result: await connection.transaction(operation) };
    } catch (error) {
      // By now it is rolled back. What slonik does not see thrown, it does not answer for.
      if (error instanceof ApiError) return { refusal: error };
      throw error;
    }
  });
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome.result;
};

const SettingRow = z.object({ setting: z.string() });

/** Gives the statements of a part of a transaction more time than statements have otherwise. */
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
