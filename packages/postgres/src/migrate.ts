import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { Client } from "pg";
import { connectTimeoutMs } from "./pool.ts";

export type Migration = {
  /** The URL of a role that can create roles and schemas. */
  adminUrl: string;
  /**
   * The service's role and its password. The role is created if it does not exist. Without a
   * password, it must already exist. If the role is not the one of the previous migration, it gets
   * the same rights, and the previous role keeps its rights.
   */
  role: { name: string; password?: string };
  /** The service's own schema. Its role cannot use any other schema. */
  schema: string;
  /** Folders of numbered SQL files, applied in the given order, then by file name. */
  folders: readonly URL[];
};

type SqlFile = { name: string; sql: string; checksum: string };

/** Allows one runner at a time per database, across all machines. */
const migrationLockId = 7_203_115;
const lockTimeoutMs = 60_000;

/**
 * Migrates one service's schema forward, each file in its own transaction. Returns the names of the
 * applied files. If there are no new files, nothing changes. Throws if a file fails, or if a file
 * was edited after it had been applied. The message names the file.
 */
export const migrate = async (migration: Migration): Promise<string[]> => {
  const files = await readMigrationFiles(migration.folders);
  const client = new Client({
    connectionString: migration.adminUrl,
    application_name: "migrate",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  // If the connection breaks, the pending query fails. Without this listener, the error event would
  // also crash the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(`SET lock_timeout = ${lockTimeoutMs}`);
    await client.query("SELECT pg_advisory_lock($1)", [migrationLockId]);
    await prepareSchema(client, migration);
    return await applyMissingFiles(client, migration, files);
  } finally {
    await client.end();
  }
};

/** Lists a schema's migration files in the order in which they are applied. */
export const listMigrations = async (folders: readonly URL[]): Promise<string[]> =>
  (await readMigrationFiles(folders)).map(({ name }) => name);

const readMigrationFiles = async (folders: readonly URL[]): Promise<SqlFile[]> => {
  const files: SqlFile[] = [];
  for (const folder of folders) {
    const path = fileURLToPath(folder);
    const names = (await readdir(path)).filter((name) => name.endsWith(".sql")).sort();
    for (const name of names) {
      // An applied file is identified only by its name.
      if (files.some((file) => file.name === name))
        throw new Error(`two migrations have the name ${name}`);
      const sql = await readFile(join(path, name), "utf8");
      files.push({ name, sql, checksum: createHash("sha256").update(sql).digest("hex") });
    }
  }
  return files;
};

const prepareSchema = async (client: Client, { role, schema }: Migration): Promise<void> => {
  const roleName = client.escapeIdentifier(role.name);
  const schemaName = client.escapeIdentifier(schema);
  const existingRole = await client.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [role.name]);
  if (existingRole.rowCount === 0) await client.query(`CREATE ROLE ${roleName} LOGIN`);
  if (role.password !== undefined) {
    const password = client.escapeLiteral(role.password);
    await client.query(`ALTER ROLE ${roleName} LOGIN PASSWORD ${password}`);
  }
  const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
  const database = client.escapeIdentifier(rows[0]?.name ?? "");
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS ${schemaName};
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${schemaName} TO ${roleName};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schemaName}
      GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${roleName};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schemaName} GRANT USAGE ON SEQUENCES TO ${roleName};
    ALTER ROLE ${roleName} IN DATABASE ${database} SET search_path = ${schemaName};
    SET search_path = ${schemaName};
    CREATE TABLE IF NOT EXISTS migrations (
      name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
    );
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schemaName} TO ${roleName};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schemaName} TO ${roleName};
    REVOKE INSERT, UPDATE, DELETE ON migrations FROM ${roleName};
  `);
};

const applyMissingFiles = async (
  client: Client,
  { schema }: Migration,
  files: readonly SqlFile[],
): Promise<string[]> => {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    "SELECT name, checksum FROM migrations",
  );
  const appliedChecksums = new Map(rows.map((row) => [row.name, row.checksum]));
  const appliedNames: string[] = [];
  for (const file of files) {
    const checksum = appliedChecksums.get(file.name);
    if (checksum === file.checksum) continue;
    if (checksum !== undefined) {
      throw new Error(`migration ${schema}/${file.name} was edited after it had been applied`);
    }
    await applyFile(client, schema, file);
    appliedNames.push(file.name);
  }
  return appliedNames;
};

const applyFile = async (client: Client, schema: string, file: SqlFile): Promise<void> => {
  try {
    await client.query("BEGIN");
    await client.query(file.sql);
    await client.query("INSERT INTO migrations (name, checksum) VALUES ($1, $2)", [
      file.name,
      file.checksum,
    ]);
    await client.query("COMMIT");
  } catch (error) {
    // The caller closes the connection, which rolls back the transaction.
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${schema}/${file.name} failed: ${reason}`, { cause: error });
  }
};
