import type { Client } from "pg";
import { migrations, serviceNames } from "../replica.ts";

/** The schemas of the simulated services. */
export const schemas = serviceNames.map((name) => migrations[name]);

/** Empties every table except the tables that the migrations filled. */
export const emptyTables = async (admin: Client): Promise<void> => {
  const { rows } = await admin.query<{ name: string; schema: string }>(
    `
    SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name, schemaname AS schema
    FROM pg_tables WHERE schemaname = ANY ($1) AND tablename NOT IN ('migrations', 'relay_lead')
    ORDER BY 1
  `,
    [schemas.map(({ schema }) => schema)],
  );
  await admin.query(`TRUNCATE ${rows.map(({ name }) => name).join(", ")} RESTART IDENTITY`);
  for (const { schema } of schemas)
    await admin.query(`UPDATE ${schema}.relay_lead SET holder = NULL`);
};
