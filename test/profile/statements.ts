import type { Client } from "pg";

/** The Postgres setting that {@link countStatements} needs. */
export const statementSettings = { shared_preload_libraries: "pg_stat_statements" };

/** How often a service sent a statement per payment, and how long Postgres took to run it. */
export type StatementCost = { service: string; calls: number; ms: number; text: string };

/**
 * Starts to count statements. The returned function returns the statements of `count` payments,
 * with the most frequent first.
 */
export const countStatements = async (
  admin: Client,
): Promise<(count: number) => Promise<StatementCost[]>> => {
  await admin.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  await admin.query("SELECT pg_stat_statements_reset()");
  return async (count) => {
    const { rows } = await admin.query<StatementCost>(
      `SELECT replace(rolname, '_', '-') AS service, calls / $1::float8 AS calls,
         (total_exec_time + total_plan_time) / $1::float8 AS ms,
         regexp_replace(query, '\\s+', ' ', 'g') AS text
       FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND rolname <> current_user
       ORDER BY calls DESC`,
      [count],
    );
    return rows;
  };
};
