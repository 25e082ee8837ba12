import { Client } from "pg";

/**
 * The parts of a schema. Each query returns a column `line`. Its values are added to the dump
 * unchanged.
 */
const queries = {
  functions: `
    SELECT rtrim(pg_get_functiondef(oid), E'\\n') || E';\\n' AS line
    FROM pg_proc WHERE pronamespace = $1::regnamespace ORDER BY proname`,
  // Daily partitions are excluded because they change. Parent tables and default partitions are
  // included.
  tables: `
    SELECT format(E'CREATE TABLE %s%s%s;\\n', relname,
      CASE WHEN relispartition
        THEN ' PARTITION OF ' || (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = oid)
          || ' ' || pg_get_expr(relpartbound, oid)
        ELSE E' (\\n  ' || concat_ws(E',\\n  ', (
          SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod),
            CASE WHEN attcollation = '"C"'::regcollation THEN 'COLLATE "C"' END,
            CASE WHEN attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY'
              WHEN attgenerated = 's'
                THEN 'GENERATED ALWAYS AS (' || pg_get_expr(adbin, adrelid) || ') STORED'
              WHEN adbin IS NOT NULL THEN 'DEFAULT ' || pg_get_expr(adbin, adrelid) END,
            CASE WHEN attnotnull THEN 'NOT NULL' END), E',\\n  ' ORDER BY attnum)
          FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
          WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        ), (
          SELECT string_agg(format('CONSTRAINT %s %s', conname, pg_get_constraintdef(oid, true)),
            E',\\n  ' ORDER BY contype DESC, conname)
          FROM pg_constraint WHERE conrelid = pg_class.oid AND contype NOT IN ('f', 'n')
        )) || E'\\n)' END,
      coalesce(' PARTITION BY ' || pg_get_partkeydef(oid), '')
        || coalesce(E' WITH (\\n  ' || array_to_string(reloptions, E',\\n  ') || E'\\n)', '')) AS line
    FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')
      AND coalesce(pg_get_expr(relpartbound, oid), 'DEFAULT') = 'DEFAULT'
    ORDER BY relname`,
  // Indexes of constraints and of partitions are excluded, because the constraints and the
  // partitioned tables already define them.
  indexes: `
    SELECT pg_get_indexdef(indexrelid, 0, true) || ';' AS line
    FROM pg_index
    JOIN pg_class AS of_table ON of_table.oid = indrelid
    JOIN pg_class AS of_index ON of_index.oid = indexrelid
    WHERE of_table.relnamespace = $1::regnamespace AND NOT of_table.relispartition
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f')
    ORDER BY of_table.relname, of_index.relname`,
  foreignKeys: `
    SELECT format(E'ALTER TABLE %s ADD CONSTRAINT %s\\n  %s;',
      conrelid::regclass, conname, pg_get_constraintdef(oid, true)) AS line
    FROM pg_constraint WHERE connamespace = $1::regnamespace AND contype = 'f'
    ORDER BY conrelid::regclass::text, conname`,
  triggers: `
    SELECT pg_get_triggerdef(pg_trigger.oid, true) || ';' AS line
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = $1::regnamespace AND NOT tgisinternal ORDER BY relname, tgname`,
  // The privileges of the service's own role. The migrator owns all objects.
  grants: `
    SELECT format('GRANT %s ON %s%s TO %s;', privileges,
      kind,
      string_agg(relname, ', ' ORDER BY relname), grantee) AS line
    FROM (
      SELECT relname, CASE WHEN relkind = 'S' THEN 'SEQUENCE ' END AS kind, grantee::regrole,
        string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
      FROM pg_class, aclexplode(relacl)
      WHERE relnamespace = $1::regnamespace AND grantee <> relowner
        AND coalesce(pg_get_expr(relpartbound, oid), 'DEFAULT') = 'DEFAULT'
      GROUP BY relname, relkind, grantee
    ) AS granted
    GROUP BY kind, privileges, grantee ORDER BY kind DESC, privileges`,
} as const;

/** Returns one schema of a database as readable SQL. Equal schemas have equal dumps. */
export const dumpSchema = async (adminUrl: string, schema: string): Promise<string> => {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    // With this search path, names in the schema have no prefix.
    await client.query("SELECT set_config('search_path', $1, false)", [schema]);
    let dump = "";
    for (const query of Object.values(queries)) {
      const { rows } = await client.query<{ line: string }>(query, [schema]);
      dump += `${rows.map(({ line }) => line).join("\n")}\n\n`;
    }
    return `${dump
      .replaceAll(`${schema}.`, "")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim()}\n`;
  } finally {
    await client.end();
  }
};
