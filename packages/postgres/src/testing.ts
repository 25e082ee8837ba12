import { createHash, randomBytes } from "node:crypto";
import { copyFile, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import { type Migration, migrate } from "./migrate.ts";
import type { Db } from "./transact.ts";

export type TestDatabase = {
  /** The superuser's connection URL for this database. */
  adminUrl: string;
  /** Returns the connection URL of a service's own role. */
  getRoleUrl(role: string): string;
  drop(): Promise<void>;
};

type Schema = Pick<Migration, "schema" | "folders">;

const rolePassword = "test";
/** Roles belong to the whole server, so test files must not create them concurrently. */
const templateLockId = 7_203_116;

/**
 * Creates a new database with the given schemas on the test server (`DATABASE_URL`, as a
 * superuser), so that test files never see each other's rows.
 */
export const createTestDatabase = async (schemas: readonly Schema[]): Promise<TestDatabase> => {
  const serverUrl = process.env["DATABASE_URL"];
  if (serverUrl === undefined) throw new Error("tests need DATABASE_URL; run them with npm test");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const adminUrl = withDatabaseName(serverUrl, name);
  const drop = () => withClient(serverUrl, (client) => dropDatabase(client, name));
  await withClient(serverUrl, async (client) => {
    const templateName =
      schemas.length === 0 ? "template1" : await findOrCreateTemplate(client, schemas);
    // The default strategy copies block by block, which takes five times as long.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY FILE_COPY`);
  });
  try {
    // Role settings and database privileges belong to one database and are not copied. The
    // migration sets them again. The roles themselves exist since the template was created, so this
    // does not write anything that other databases share.
    for (const { schema, folders } of schemas) {
      await migrate({ adminUrl, schema, folders, role: { name: schema } });
    }
  } catch (error) {
    await drop();
    throw error;
  }
  return {
    adminUrl,
    getRoleUrl: (role) => {
      const url = new URL(adminUrl);
      url.username = role;
      url.password = rolePassword;
      return url.href;
    },
    drop,
  };
};

/**
 * Returns the result of a query after an upgrade with existing rows. Inserts the rows before the
 * migration `firstNewFile` of the last folder is applied, and then applies all migrations.
 */
export const queryAfterUpgrade = async (
  { schema, folders }: Schema,
  {
    firstNewFile,
    insertSql,
    querySql,
  }: { firstNewFile: string; insertSql: string; querySql: string },
): Promise<readonly unknown[]> => {
  const ownFolder = folders.at(-1);
  if (ownFolder === undefined) throw new Error("a schema without migrations cannot be upgraded");
  const olderFolder = await mkdtemp(join(tmpdir(), "payment-links-migrations-"));
  const database = await createTestDatabase([]);
  try {
    for (const name of (await readdir(ownFolder)).filter((file) => file < firstNewFile)) {
      await copyFile(new URL(name, ownFolder), join(olderFolder, name));
    }
    const commonOptions = {
      adminUrl: database.adminUrl,
      schema,
      role: { name: schema, password: "test" },
    };
    await migrate({
      ...commonOptions,
      folders: [...folders.slice(0, -1), pathToFileURL(`${olderFolder}/`)],
    });
    const runInSchema = (statement: string) =>
      withClient(database.adminUrl, async (client) => {
        await client.query(`SET search_path = ${schema}`);
        return client.query(statement);
      });
    await runInSchema(insertSql);
    await migrate({ ...commonOptions, folders });
    return (await runInSchema(querySql)).rows;
  } finally {
    await rm(olderFolder, { recursive: true, force: true });
    await database.drop();
  }
};

const CountRow = z.object({ count: z.int() });

/**
 * Counts the sessions in this database, of any role, that wait for a lock. Uses `pg_locks`, because
 * a transaction would see only its first snapshot of `pg_stat_activity`.
 */
export const countLockWaits = (db: Db): Promise<number> =>
  db.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM pg_locks
    WHERE NOT granted AND pid IN (
      SELECT pid FROM pg_locks
      WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
  `);

/** Returns the template database with these schemas and no rows. The first caller creates it. */
const findOrCreateTemplate = async (
  client: Client,
  schemas: readonly Schema[],
): Promise<string> => {
  const templateName = `template_${await hashSchemas(schemas)}`;
  const templateExists = async () => {
    const matched = await client.query("SELECT FROM pg_database WHERE datname = $1", [
      templateName,
    ]);
    return matched.rowCount === 1;
  };
  if (await templateExists()) return templateName;
  await client.query("SELECT pg_advisory_lock($1)", [templateLockId]);
  if (!(await templateExists())) await createTemplate(client, templateName, schemas);
  await client.query("SELECT pg_advisory_unlock($1)", [templateLockId]);
  return templateName;
};

const createTemplate = async (client: Client, templateName: string, schemas: readonly Schema[]) => {
  // The name of a template that is not complete. It exists if its creation was killed. Only a
  // complete template gets the final name.
  const unfinishedName = `${templateName}_unfinished`;
  await dropDatabase(client, unfinishedName);
  await client.query(`CREATE DATABASE ${unfinishedName}`);
  const adminUrl = withDatabaseName(process.env["DATABASE_URL"] ?? "", unfinishedName);
  for (const { schema, folders } of schemas) {
    await migrate({ adminUrl, schema, folders, role: { name: schema, password: rolePassword } });
    // Tests run ANALYZE as autovacuum would. Without this privilege, Postgres skips the tables.
    await client.query(`GRANT pg_maintain TO ${schema}`);
  }
  // A database with open connections cannot be copied.
  await client.query(`ALTER DATABASE ${unfinishedName} ALLOW_CONNECTIONS false`);
  await client.query(`ALTER DATABASE ${unfinishedName} RENAME TO ${templateName}`);
};

/** Returns the same hash for the same schemas, migrations and migration code. */
const hashSchemas = async (schemas: readonly Schema[]): Promise<string> => {
  const hash = createHash("sha256");
  for (const name of ["migrate.ts", "testing.ts"]) {
    hash.update(await readFile(new URL(name, import.meta.url)));
  }
  for (const { schema, folders } of schemas) {
    hash.update(`\n${schema}\n`);
    for (const folder of folders) {
      for (const name of (await readdir(folder)).sort()) {
        hash.update(`\n${name}\n`).update(await readFile(new URL(name, folder)));
      }
    }
  }
  return hash.digest("hex").slice(0, 32);
};

const dropDatabase = async (client: Client, name: string): Promise<void> => {
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
};

const withDatabaseName = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
};

const withClient = async <Result>(
  serverUrl: string,
  operation: (client: Client) => Promise<Result>,
): Promise<Result> => {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    return await operation(client);
  } finally {
    await client.end();
  }
};
