import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Migration, migrate } from "./migrate.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";

let database: TestDatabase;
let folder = "";
// Roles belong to the whole server, so each test run uses its own.
const role = `links_${randomBytes(4).toString("hex")}`;
const otherRole = `keys_${randomBytes(4).toString("hex")}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "migrations-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  const postgres = await createTestDatabase([]);
  await withClient(postgres.adminUrl, async (client) => {
    for (const name of [role, otherRole]) await client.query(`DROP ROLE IF EXISTS ${name}`);
  });
  await postgres.drop();
});

const withClient = async <T>(
  url: string,
  operation: (client: Client) => Promise<T>,
): Promise<T> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await operation(client);
  } finally {
    await client.end();
  }
};

const runQuery = (url: string, sql: string): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);

/** The advisory lock with which a test delays a migration. */
const blockingLockId = 7;
const waitingSessionsSql = `
  SELECT FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database()`;

/** Writes the files into a new folder. */
const writeFolder = async (files: Record<string, string>): Promise<URL> => {
  const path = join(folder, randomBytes(4).toString("hex"));
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return pathToFileURL(`${path}/`);
};

const createMigration = (folders: URL[], overrides: Partial<Migration> = {}): Migration => ({
  adminUrl: database.adminUrl,
  role: { name: role, password: "first" },
  schema: "links",
  folders,
  ...overrides,
});

const listTables = (schema: string) =>
  runQuery(
    database.adminUrl,
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = '${schema}' ORDER BY table_name`,
  );

const thingsFiles = {
  "0001-things.sql": "CREATE TABLE things (id int PRIMARY KEY); INSERT INTO things VALUES (1);",
  "0002-names.sql": "ALTER TABLE things ADD COLUMN name text;",
};

describe("migrate", () => {
  beforeEach(async () => {
    database = await createTestDatabase([]);
  });
  afterEach(() => database.drop());

  test("applies folders in the given order and their SQL files by name, and returns the applied names", async () => {
    const sharedFolder = await writeFolder({ "0009-shared.sql": "CREATE TABLE shared (id int);" });
    const ownFolder = await writeFolder({ ...thingsFiles, "README.md": "no SQL" });
    expect(await migrate(createMigration([sharedFolder, ownFolder]))).toEqual([
      "0009-shared.sql",
      "0001-things.sql",
      "0002-names.sql",
    ]);
    expect(await listTables("links")).toEqual([
      { name: "migrations" },
      { name: "shared" },
      { name: "things" },
    ]);
  });

  test("changes nothing when run again, and applies only files that are new", async () => {
    await migrate(createMigration([await writeFolder(thingsFiles)]));
    expect(await migrate(createMigration([await writeFolder(thingsFiles)]))).toEqual([]);
    const moreFiles = { ...thingsFiles, "0003-more.sql": "CREATE TABLE more (id int);" };
    expect(await migrate(createMigration([await writeFolder(moreFiles)]))).toEqual([
      "0003-more.sql",
    ]);
    expect(await runQuery(database.adminUrl, "SELECT id FROM links.things")).toEqual([{ id: 1 }]);
  });

  test("rejects an applied file that was edited since, names it and applies nothing", async () => {
    await migrate(createMigration([await writeFolder(thingsFiles)]));
    const editedFiles = {
      ...thingsFiles,
      "0002-names.sql": "ALTER TABLE things ADD COLUMN title text;",
      "0003-more.sql": "CREATE TABLE more (id int);",
    };
    await expect(migrate(createMigration([await writeFolder(editedFiles)]))).rejects.toThrow(
      "migration links/0002-names.sql was edited after it had been applied",
    );
    expect(await listTables("links")).toEqual([{ name: "migrations" }, { name: "things" }]);
  });

  test("rejects the same name in two folders before it changes the database", async () => {
    const duplicateFolders = [await writeFolder(thingsFiles), await writeFolder(thingsFiles)];
    await expect(migrate(createMigration(duplicateFolders))).rejects.toThrow(
      "two migrations have the name 0001-things.sql",
    );
    expect(await listTables("links")).toEqual([]);
  });

  test("names a file that fails halfway, rolls it back and keeps the earlier files", async () => {
    const brokenFiles = {
      ...thingsFiles,
      "0003-broken.sql": "CREATE TABLE half (id int); SELECT 1 / 0; CREATE TABLE whole (id int);",
      "0004-after.sql": "CREATE TABLE after (id int);",
    };
    await expect(migrate(createMigration([await writeFolder(brokenFiles)]))).rejects.toThrow(
      "migration links/0003-broken.sql failed: division by zero",
    );
    expect(await listTables("links")).toEqual([{ name: "migrations" }, { name: "things" }]);
    const repairedFiles = { ...brokenFiles, "0003-broken.sql": "CREATE TABLE half (id int);" };
    expect(await migrate(createMigration([await writeFolder(repairedFiles)]))).toEqual([
      "0003-broken.sql",
      "0004-after.sql",
    ]);
  });

  test("rolls back a file that succeeded but cannot be recorded", async () => {
    const lostFiles = { "0001-lost.sql": "CREATE TABLE half (id int); DROP TABLE migrations;" };
    await expect(migrate(createMigration([await writeFolder(lostFiles)]))).rejects.toThrow(
      "0001-lost.sql",
    );
    expect(await listTables("links")).toEqual([{ name: "migrations" }]);
  });

  test("applies each file once when several runners start together, and all of them succeed", async () => {
    const slowSql = `SELECT pg_advisory_xact_lock(${blockingLockId}); INSERT INTO things VALUES (2);`;
    const ownFolder = await writeFolder({ ...thingsFiles, "0003-slow.sql": slowSql });
    // The runner that applies the last file is delayed until all other runners wait for it.
    const runs = await withClient(database.adminUrl, async (lockHolder) => {
      await lockHolder.query(`SELECT pg_advisory_lock(${blockingLockId})`);
      const running = Promise.all(
        Array.from({ length: 4 }, () => migrate(createMigration([ownFolder]))),
      );
      await waitUntil(
        "all runners wait for the lock",
        async () => (await lockHolder.query(waitingSessionsSql)).rowCount === 4,
      );
      await lockHolder.query(`SELECT pg_advisory_unlock(${blockingLockId})`);
      return await running;
    });
    expect(runs.flat().sort()).toEqual(["0001-things.sql", "0002-names.sql", "0003-slow.sql"]);
    expect(await runQuery(database.adminUrl, "SELECT id FROM links.things ORDER BY id")).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
  });

  test("gives up on a server that accepts the connection and sends nothing", async () => {
    const silentServer = createServer(() => {});
    await new Promise<void>((resolve) => silentServer.listen(0, "127.0.0.1", resolve));
    const { port } = silentServer.address() as AddressInfo;
    const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await expect(migrate(createMigration([], { adminUrl }))).rejects.toThrow(/timeout/);
    silentServer.close();
  });

  test("rejects when the connection breaks, without ending the process", async () => {
    const { adminUrl, breakConnections } = await startBreakableProxy(database.adminUrl);
    const slowSql = { "0001-slow.sql": "SELECT pg_sleep(3600);" };
    const running = migrate(createMigration([await writeFolder(slowSql)], { adminUrl }));
    const rejection = expect(running).rejects.toThrow("migration links/0001-slow.sql failed");
    const sleepingSessionsSql = `
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await waitUntil(
      "the migration sleeps",
      async () => (await runQuery(database.adminUrl, sleepingSessionsSql)).length > 0,
    );
    breakConnections();
    await rejection;
  });
});

/** A proxy in front of the database. It resets its connections on demand. */
const startBreakableProxy = async (url: string) => {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(socket, upstream);
    for (const stream of [socket, upstream]) stream.on("error", () => {});
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const proxyUrl = new URL(url);
  proxyUrl.hostname = "127.0.0.1";
  proxyUrl.port = String((server.address() as AddressInfo).port);
  const breakConnections = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    server.close();
  };
  return { adminUrl: proxyUrl.href, breakConnections };
};

describe("the role of a service (rule KEEP-10)", () => {
  const getRoleUrl = (name: string, password: string): string => {
    const url = new URL(database.adminUrl);
    url.username = name;
    url.password = password;
    return url.href;
  };

  beforeAll(async () => {
    database = await createTestDatabase([]);
    await migrate(createMigration([await writeFolder(thingsFiles)]));
    const secretsFiles = { "0001-secrets.sql": "CREATE TABLE secrets (id bigserial, text text);" };
    await migrate(
      createMigration([await writeFolder(secretsFiles)], {
        schema: "keys",
        role: { name: otherRole, password: "other" },
      }),
    );
  });

  afterAll(() => database.drop());

  test("reads and writes its own tables by unqualified names, including sequences", async () => {
    const url = getRoleUrl(otherRole, "other");
    await runQuery(url, "INSERT INTO secrets (text) VALUES ('a'), ('b')");
    await runQuery(
      url,
      "UPDATE secrets SET text = 'c' WHERE id = 1; DELETE FROM secrets WHERE id = 2",
    );
    expect(await runQuery(url, "SELECT id, text FROM secrets")).toEqual([{ id: "1", text: "c" }]);
  });

  test.each([
    ["read the table of another service", "SELECT * FROM keys.secrets"],
    ["write the table of another service", "INSERT INTO keys.secrets (text) VALUES ('x')"],
    ["create a table in its own schema", "CREATE TABLE extra (id int)"],
    ["create a table in the public schema", "CREATE TABLE public.extra (id int)"],
    ["create a temporary table", "CREATE TEMPORARY TABLE extra (id int)"],
    ["create a schema", "CREATE SCHEMA extra"],
    ["drop its own table", "DROP TABLE things"],
    ["alter its own table", "ALTER TABLE things ADD COLUMN extra int"],
    ["truncate its own table", "TRUNCATE things"],
    ["delete migration records", "DELETE FROM migrations"],
    ["grant itself more rights", `ALTER ROLE ${role} SUPERUSER`],
    ["switch to another role", `SET ROLE ${otherRole}`],
  ])("cannot %s", async (_name, sql) => {
    await expect(runQuery(getRoleUrl(role, "first"), sql)).rejects.toThrow(
      /permission denied|must be owner/,
    );
  });

  test("can be replaced: after a migration with a new role both roles work, until the old one is disabled", async () => {
    const successor = `${otherRole}_next`;
    const secretsFiles = { "0001-secrets.sql": "CREATE TABLE secrets (id bigserial, text text);" };
    const moreFiles = { ...secretsFiles, "0002-more.sql": "CREATE TABLE more (id bigserial);" };
    const overrides = { schema: "keys", role: { name: successor, password: "next" } };
    try {
      await migrate(createMigration([await writeFolder(moreFiles)], overrides));
      for (const [name, password] of [
        [otherRole, "other"],
        [successor, "next"],
      ] as const) {
        const url = getRoleUrl(name, password);
        await runQuery(
          url,
          "INSERT INTO secrets (text) VALUES ('d'); INSERT INTO more DEFAULT VALUES",
        );
        await runQuery(url, "UPDATE secrets SET text = 'e'; DELETE FROM secrets WHERE text = 'e'");
        expect(await runQuery(url, "SELECT count(name) FROM migrations")).toEqual([{ count: "2" }]);
        await expect(runQuery(url, "DELETE FROM migrations")).rejects.toThrow(/permission denied/);
      }
      await runQuery(database.adminUrl, `ALTER ROLE ${otherRole} NOLOGIN`);
      await expect(runQuery(getRoleUrl(otherRole, "other"), "SELECT 1")).rejects.toThrow(/log in/);
      expect(await runQuery(getRoleUrl(successor, "next"), "SELECT text FROM secrets")).toEqual([]);
    } finally {
      await runQuery(database.adminUrl, `DROP OWNED BY ${successor}; DROP ROLE ${successor}`);
    }
  });

  test("gets the password of the latest migration, and the old password stops working", async () => {
    const ownFolder = [await writeFolder(thingsFiles)];
    await migrate(createMigration(ownFolder, { role: { name: role, password: "it's new" } }));
    expect(await runQuery(getRoleUrl(role, "it's new"), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await expect(runQuery(getRoleUrl(role, "first"), "SELECT 1")).rejects.toThrow(/password|auth/);
    await migrate(createMigration(ownFolder, { role: { name: role } }));
    expect(await runQuery(getRoleUrl(role, "it's new"), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});
