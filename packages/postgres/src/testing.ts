import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { type Migration, migrate } from "./migrate.ts";

export type TestDatabase = {
  /** The superuser's connection to this database. */
  adminUrl: string;
  /** The connection of a service's own role. */
  urlOf(role: string): string;
  drop(): Promise<void>;
};

const rolePassword = "test";

/**
 * Makes an empty database of its own on the test server (`DATABASE_URL`, a superuser) and migrates
 * the given schemas in it, so that test files never see each other's rows.
 */
export const createTestDatabase = async (
  schemas: readonly Pick<Migration, "schema" | "folders">[],
): Promise<TestDatabase> => {
  const serverUrl = process.env["DATABASE_URL"];
  if (serverUrl === undefined) throw new Error("tests need DATABASE_URL; run them by npm test");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const adminUrl = withPath(serverUrl, name);
  // Roles belong to the whole server: two test files must not make them at once.
  await onServer(serverUrl, async (client) => {
    await client.query("SELECT pg_advisory_lock(7203116)");
    await client.query(`CREATE DATABASE ${name}`);
    try {
      for (const { schema, folders } of schemas) {
        const role = { name: schema, password: rolePassword };
        await migrate({ adminUrl, schema, folders, role });
      }
    } catch (error) {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      throw error;
    }
  });
  return {
    adminUrl,
    urlOf: (role) => {
      const url = new URL(adminUrl);
      url.username = role;
      url.password = rolePassword;
      return url.href;
    },
    drop: () =>
      onServer(serverUrl, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
};

const withPath = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
};

const onServer = async (
  serverUrl: string,
  work: (client: Client) => Promise<void>,
): Promise<void> => {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
};
