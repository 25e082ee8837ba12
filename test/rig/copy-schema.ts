import type { Client } from "pg";

/** A snapshot of a schema's rows. `restore` restores them. */
export type SchemaCopy = { restore(): Promise<void> };

type Table = { name: string; columns: string };

/**
 * Copies all rows of a schema into a second schema in one snapshot. This replaces `pg_dump
 * --schema`, because the test Postgres has no client programs. `restore` restores the rows and
 * sequences. Other connections must not use the schema during the restore.
 */
export const copySchema = async (admin: Client, schema: string): Promise<SchemaCopy> => {
  const copy = `${schema}_copy`;
  const { rows: tables } = await admin.query<Table>(
    `SELECT format('%I', relname) AS name,
       string_agg(format('%I', attname), ', ' ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY relname`,
    [schema],
  );
  await inTransaction(admin, "REPEATABLE READ", async () => {
    await admin.query(`DROP SCHEMA IF EXISTS ${copy} CASCADE; CREATE SCHEMA ${copy}`);
    for (const { name } of tables) {
      await admin.query(`CREATE TABLE ${copy}.${name} AS TABLE ${schema}.${name}`);
    }
  });
  const { rows: sequences } = await admin.query<{ name: string; value: string | null }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value
     FROM pg_sequences WHERE schemaname = $1`,
    [schema],
  );
  const restore = () =>
    inTransaction(admin, "READ COMMITTED", async () => {
      // Triggers and foreign keys must not run for rows that are restored unchanged.
      await admin.query("SET LOCAL session_replication_role = replica");
      const tableNames = tables.map(({ name }) => `${schema}.${name}`).join(", ");
      await admin.query(`TRUNCATE ${tableNames}`);
      for (const { name, columns } of tables) {
        await admin.query(
          `INSERT INTO ${schema}.${name} (${columns}) OVERRIDING SYSTEM VALUE
           SELECT ${columns} FROM ${copy}.${name}`,
        );
      }
      for (const { name, value } of sequences) {
        await admin.query("SELECT setval($1::regclass, coalesce($2::int8, 1), $2 IS NOT NULL)", [
          name,
          value,
        ]);
      }
    });
  return { restore };
};

const inTransaction = async (
  admin: Client,
  isolation: string,
  operation: () => Promise<void>,
): Promise<void> => {
  await admin.query(`BEGIN ISOLATION LEVEL ${isolation}`);
  try {
    await operation();
    await admin.query("COMMIT");
  } catch (error) {
    await admin.query("ROLLBACK");
    throw error;
  }
};
