import type { Client } from "pg";

/** An operator's dump of a schema. */
export type SchemaDump = {
  restore: () => Promise<void>;
};

const getDumpSchemaName = (schema: string): string => `dump_of_${schema}`;

/** Dumps a schema: all rows and the state of its sequences. Replaces the previous dump. */
export const dumpSchema = async (admin: Client, schema: string): Promise<SchemaDump> => {
  const dumpSchemaName = getDumpSchemaName(schema);
  const { rows: tables } = await admin.query<{ name: string; columns: string }>(
    `SELECT quote_ident(relname) AS name,
       string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname <> 'migrations'
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY relname ORDER BY 1`,
    [schema],
  );
  const { rows: sequences } = await admin.query<{ name: string; last: string | null }>(
    `SELECT quote_ident(sequencename) AS name, last_value AS last FROM pg_sequences
     WHERE schemaname = $1 ORDER BY 1`,
    [schema],
  );
  const copyStatements = tables.map(
    ({ name }) => `CREATE TABLE ${dumpSchemaName}.${name} AS TABLE ${schema}.${name};`,
  );
  await admin.query(`
    DROP SCHEMA IF EXISTS ${dumpSchemaName} CASCADE;
    CREATE SCHEMA ${dumpSchemaName};
    ${copyStatements.join("\n")}
  `);
  const insertStatements = tables.map(
    ({ columns, name }) =>
      `INSERT INTO ${schema}.${name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM ${dumpSchemaName}.${name};`,
  );
  const sequenceStatements = sequences.map(({ last, name }) =>
    last === null
      ? `ALTER SEQUENCE ${schema}.${name} RESTART;`
      : `SELECT setval('${schema}.${name}', ${last});`,
  );
  return {
    restore: async () => {
      await admin.query(`
        SET session_replication_role = replica;
        TRUNCATE ${tables.map(({ name }) => `${schema}.${name}`).join(", ")};
        ${[...insertStatements, ...sequenceStatements].join("\n")}
        SET session_replication_role = origin;
      `);
    },
  };
};
