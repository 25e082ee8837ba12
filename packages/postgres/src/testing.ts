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
  /** The superuser's connection to this database. */
  adminUrl: string;
  /** The connection of a service's own role. */
  urlOf(role: string): string;
  drop(): Promise<void>;
};

type Schema = Pick<Migration, "schema" | "folders">;

const rolePassword = "test";
/** Roles belong to the whole server: two test files must not make them at once. */
const templateLock = 7_203_116;

/**
 * Makes a database of its own on the test server (`DATABASE_URL`, a superuser) that holds the given
 * schemas, so that test files never see each other's rows.
 */
export const createTestDatabase = async (schemas: readonly Schema[]): Promise<TestDatabase> => {
  const serverUrl = process.env["DATABASE_URL"];
  if (serverUrl === undefined) throw new Error("tests need DATABASE_URL; run them by npm test");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const adminUrl = withPath(serverUrl, name);
  const drop = () => onServer(serverUrl, (client) => dropDatabase(client, name));
  await onServer(serverUrl, async (client) => {
    const template = schemas.length === 0 ? "template1" : await findTemplate(client, schemas);
    // Copied by blocks, which the default would do, it takes five times as long.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  try {
    // A copy lacks what is known by a database's name: a role's settings in it, and rights to it.
    // The roles stand since the template, so that nothing of the whole server is written here.
    for (const { schema, folders } of schemas) {
      await migrate({ adminUrl, schema, folders, role: { name: schema } });
    }
  } catch (error) {
    await drop();
    throw error;
  }
  return {
    adminUrl,
    urlOf: (role) => {
      const url = new URL(adminUrl);
      url.username = role;
      url.password = rolePassword;
      return url.href;
    },
    drop,
  };
};

/**
 * Answers what a query finds in a schema that held rows before one of its own migrations, the last
 * folder's file `before`, and was then brought up to date.
 */
export const upgradeFilled = async (
  { schema, folders }: Schema,
  { before, fill, query }: { before: string; fill: string; query: string },
): Promise<readonly unknown[]> => {
  const own = folders.at(-1);
  if (own === undefined) throw new Error("a schema without migrations cannot be upgraded");
  const older = await mkdtemp(join(tmpdir(), "payment-links-migrations-"));
  const database = await createTestDatabase([]);
  try {
    for (const name of (await readdir(own)).filter((file) => file < before)) {
      await copyFile(new URL(name, own), join(older, name));
    }
    const common = {
      adminUrl: database.adminUrl,
      schema,
      role: { name: schema, password: "test" },
    };
    await migrate({ ...common, folders: [...folders.slice(0, -1), pathToFileURL(`${older}/`)] });
    const inSchema = (text: string) =>
      onServer(database.adminUrl, async (client) => {
        await client.query(`SET search_path = ${schema}`);
        return client.query(text);
      });
    await inSchema(fill);
    await migrate({ ...common, folders });
    return (await inSchema(query)).rows;
  } finally {
    await rm(older, { recursive: true, force: true });
    await database.drop();
  }
};

const CountRow = z.object({ count: z.int() });

/**
 * How many sessions in this database, of whatever role, wait for a lock. A transaction may ask again
 * and again: it would see `pg_stat_activity` only as it was at first.
 */
export const countLockWaits = (db: Db): Promise<number> =>
  db.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM pg_locks
    WHERE NOT granted AND pid IN (
      SELECT pid FROM pg_locks
      WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
  `);

/** The database that holds these schemas and not a row; made by whoever needs it first. */
const findTemplate = async (server: Client, schemas: readonly Schema[]): Promise<string> => {
  const template = `template_${await hashOf(schemas)}`;
  const isThere = async () => {
    const found = await server.query("SELECT FROM pg_database WHERE datname = $1", [template]);
    return found.rowCount === 1;
  };
  if (await isThere()) return template;
  await server.query("SELECT pg_advisory_lock($1)", [templateLock]);
  if (!(await isThere())) await makeTemplate(server, template, schemas);
  await server.query("SELECT pg_advisory_unlock($1)", [templateLock]);
  return template;
};

const makeTemplate = async (server: Client, template: string, schemas: readonly Schema[]) => {
  // A maker that was killed left it half done; only a whole one gets the name.
  const unfinished = `${template}_unfinished`;
  await dropDatabase(server, unfinished);
  await server.query(`CREATE DATABASE ${unfinished}`);
  const adminUrl = withPath(process.env["DATABASE_URL"] ?? "", unfinished);
  for (const { schema, folders } of schemas) {
    await migrate({ adminUrl, schema, folders, role: { name: schema, password: rolePassword } });
    // Tests analyze tables as autovacuum would. Without the right to, Postgres passes them over.
    await server.query(`GRANT pg_maintain TO ${schema}`);
  }
  // What somebody is connected to cannot be copied.
  await server.query(`ALTER DATABASE ${unfinished} ALLOW_CONNECTIONS false`);
  await server.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
};

/** The same for the same schemas, made by the same migrations and the same code. */
const hashOf = async (schemas: readonly Schema[]): Promise<string> => {
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

const dropDatabase = async (server: Client, name: string): Promise<void> => {
  await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
};

const withPath = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
};

const onServer = async <Result>(
  serverUrl: string,
  work: (server: Client) => Promise<Result>,
): Promise<Result> => {
  const server = new Client({ connectionString: serverUrl });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
};
