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
// Roles belong to the whole server, so each run has its own.
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

const withClient = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const query = (url: string, sql: string): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);

/** A lock by which a test holds up a migration. */
const heldLock = 7;
const waiting = `
  SELECT FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database()`;

/** Writes the given files into a new folder. */
const writeFolder = async (files: Record<string, string>): Promise<URL> => {
  const path = join(folder, randomBytes(4).toString("hex"));
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return pathToFileURL(`${path}/`);
};

const migration = (folders: URL[], more: Partial<Migration> = {}): Migration => ({
  adminUrl: database.adminUrl,
  role: { name: role, password: "first" },
  schema: "links",
  folders,
  ...more,
});

const tables = (schema: string) =>
  query(
    database.adminUrl,
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = '${schema}' ORDER BY table_name`,
  );

const things = {
  "0001-things.sql": "CREATE TABLE things (id int PRIMARY KEY); INSERT INTO things VALUES (1);",
  "0002-names.sql": "ALTER TABLE things ADD COLUMN name text;",
};

describe("migrate", () => {
  beforeEach(async () => {
    database = await createTestDatabase([]);
  });
  afterEach(() => database.drop());

  test("applies folders in the order given, their SQL files by name, and answers what it applied", async () => {
    const shared = await writeFolder({ "0009-shared.sql": "CREATE TABLE shared (id int);" });
    const own = await writeFolder({ ...things, "README.md": "no SQL" });
    expect(await migrate(migration([shared, own]))).toEqual([
      "0009-shared.sql",
      "0001-things.sql",
      "0002-names.sql",
    ]);
    expect(await tables("links")).toEqual([
      { name: "migrations" },
      { name: "shared" },
      { name: "things" },
    ]);
  });

  test("run again changes nothing; with a file more, applies that one", async () => {
    await migrate(migration([await writeFolder(things)]));
    expect(await migrate(migration([await writeFolder(things)]))).toEqual([]);
    const more = { ...things, "0003-more.sql": "CREATE TABLE more (id int);" };
    expect(await migrate(migration([await writeFolder(more)]))).toEqual(["0003-more.sql"]);
    expect(await query(database.adminUrl, "SELECT id FROM links.things")).toEqual([{ id: 1 }]);
  });

  test("given an applied file that was edited since, refuses, names it and applies nothing", async () => {
    await migrate(migration([await writeFolder(things)]));
    const edited = {
      ...things,
      "0002-names.sql": "ALTER TABLE things ADD COLUMN title text;",
      "0003-more.sql": "CREATE TABLE more (id int);",
    };
    await expect(migrate(migration([await writeFolder(edited)]))).rejects.toThrow(
      "migration links/0002-names.sql was edited after it had been applied",
    );
    expect(await tables("links")).toEqual([{ name: "migrations" }, { name: "things" }]);
  });

  test("given the same name in two folders, refuses before it touches the database", async () => {
    const twice = [await writeFolder(things), await writeFolder(things)];
    await expect(migrate(migration(twice))).rejects.toThrow("two migrations named 0001-things.sql");
    expect(await tables("links")).toEqual([]);
  });

  test("given a file that fails half-way, names it, leaves nothing of it and keeps those before", async () => {
    const broken = {
      ...things,
      "0003-broken.sql": "CREATE TABLE half (id int); SELECT 1 / 0; CREATE TABLE whole (id int);",
      "0004-after.sql": "CREATE TABLE after (id int);",
    };
    await expect(migrate(migration([await writeFolder(broken)]))).rejects.toThrow(
      "migration links/0003-broken.sql failed: division by zero",
    );
    expect(await tables("links")).toEqual([{ name: "migrations" }, { name: "things" }]);
    const mended = { ...broken, "0003-broken.sql": "CREATE TABLE half (id int);" };
    expect(await migrate(migration([await writeFolder(mended)]))).toEqual([
      "0003-broken.sql",
      "0004-after.sql",
    ]);
  });

  test("given a file that worked but cannot be recorded, leaves nothing of it either", async () => {
    const lost = { "0001-lost.sql": "CREATE TABLE half (id int); DROP TABLE migrations;" };
    await expect(migrate(migration([await writeFolder(lost)]))).rejects.toThrow("0001-lost.sql");
    expect(await tables("links")).toEqual([{ name: "migrations" }]);
  });

  test("given several runners at once, applies each file once and all of them succeed", async () => {
    const slow = `SELECT pg_advisory_xact_lock(${heldLock}); INSERT INTO things VALUES (2);`;
    const own = await writeFolder({ ...things, "0003-slow.sql": slow });
    // The runner that applies the last file is held up until all others wait for it.
    const runs = await withClient(database.adminUrl, async (holder) => {
      await holder.query(`SELECT pg_advisory_lock(${heldLock})`);
      const running = Promise.all(Array.from({ length: 4 }, () => migrate(migration([own]))));
      await waitUntil("all of them wait", async () => (await holder.query(waiting)).rowCount === 4);
      await holder.query(`SELECT pg_advisory_unlock(${heldLock})`);
      return await running;
    });
    expect(runs.flat().sort()).toEqual(["0001-things.sql", "0002-names.sql", "0003-slow.sql"]);
    expect(await query(database.adminUrl, "SELECT id FROM links.things ORDER BY id")).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
  });

  test("given a server that takes the connection and says nothing, gives up", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await expect(migrate(migration([], { adminUrl }))).rejects.toThrow(/timeout/);
    silent.close();
  });

  test("given a connection that breaks, rejects and does not end the process", async () => {
    const { adminUrl, breakOff } = await openBreakable(database.adminUrl);
    const slow = { "0001-slow.sql": "SELECT pg_sleep(3600);" };
    const running = migrate(migration([await writeFolder(slow)], { adminUrl }));
    const failed = expect(running).rejects.toThrow("migration links/0001-slow.sql failed");
    const sleeping = `
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await waitUntil("it sleeps", async () => (await query(database.adminUrl, sleeping)).length > 0);
    breakOff();
    await failed;
  });
});

/** A way to the database that can be cut silently, like a network. */
const openBreakable = async (url: string) => {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(socket, upstream);
    for (const end of [socket, upstream]) end.on("error", () => {});
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as AddressInfo).port);
  const breakOff = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    server.close();
  };
  return { adminUrl: through.href, breakOff };
};

describe("the role of a service (rule KEEP-10)", () => {
  const asRole = (name: string, password: string): string => {
    const url = new URL(database.adminUrl);
    url.username = name;
    url.password = password;
    return url.href;
  };

  beforeAll(async () => {
    database = await createTestDatabase([]);
    await migrate(migration([await writeFolder(things)]));
    const secrets = { "0001-secrets.sql": "CREATE TABLE secrets (id bigserial, text text);" };
    await migrate(
      migration([await writeFolder(secrets)], {
        schema: "keys",
        role: { name: otherRole, password: "other" },
      }),
    );
  });

  afterAll(() => database.drop());

  test("reads and writes its own tables by unqualified names, sequences included", async () => {
    const url = asRole(otherRole, "other");
    await query(url, "INSERT INTO secrets (text) VALUES ('a'), ('b')");
    await query(
      url,
      "UPDATE secrets SET text = 'c' WHERE id = 1; DELETE FROM secrets WHERE id = 2",
    );
    expect(await query(url, "SELECT id, text FROM secrets")).toEqual([{ id: "1", text: "c" }]);
  });

  test.each([
    ["read another's table", "SELECT * FROM keys.secrets"],
    ["write another's table", "INSERT INTO keys.secrets (text) VALUES ('x')"],
    ["make a table in its own schema", "CREATE TABLE extra (id int)"],
    ["make a table in the public schema", "CREATE TABLE public.extra (id int)"],
    ["make a temporary table", "CREATE TEMPORARY TABLE extra (id int)"],
    ["make a schema", "CREATE SCHEMA extra"],
    ["drop its own table", "DROP TABLE things"],
    ["change its own table", "ALTER TABLE things ADD COLUMN extra int"],
    ["empty its own table at a stroke", "TRUNCATE things"],
    ["forge what was applied", "DELETE FROM migrations"],
    ["make itself more", `ALTER ROLE ${role} SUPERUSER`],
    ["become another", `SET ROLE ${otherRole}`],
  ])("cannot %s", async (_name, sql) => {
    await expect(query(asRole(role, "first"), sql)).rejects.toThrow(
      /permission denied|must be owner/,
    );
  });

  test("has a successor by being migrated with another: both do all, until the first is shut", async () => {
    const successor = `${otherRole}_next`;
    const secrets = { "0001-secrets.sql": "CREATE TABLE secrets (id bigserial, text text);" };
    const more = { ...secrets, "0002-more.sql": "CREATE TABLE more (id bigserial);" };
    const change = { schema: "keys", role: { name: successor, password: "next" } };
    try {
      await migrate(migration([await writeFolder(more)], change));
      for (const [name, password] of [
        [otherRole, "other"],
        [successor, "next"],
      ] as const) {
        const url = asRole(name, password);
        await query(
          url,
          "INSERT INTO secrets (text) VALUES ('d'); INSERT INTO more DEFAULT VALUES",
        );
        await query(url, "UPDATE secrets SET text = 'e'; DELETE FROM secrets WHERE text = 'e'");
        expect(await query(url, "SELECT count(name) FROM migrations")).toEqual([{ count: "2" }]);
        await expect(query(url, "DELETE FROM migrations")).rejects.toThrow(/permission denied/);
      }
      await query(database.adminUrl, `ALTER ROLE ${otherRole} NOLOGIN`);
      await expect(query(asRole(otherRole, "other"), "SELECT 1")).rejects.toThrow(/log in/);
      expect(await query(asRole(successor, "next"), "SELECT text FROM secrets")).toEqual([]);
    } finally {
      await query(database.adminUrl, `DROP OWNED BY ${successor}; DROP ROLE ${successor}`);
    }
  });

  test("gets a new password when it is migrated with one; the old one opens nothing", async () => {
    const own = [await writeFolder(things)];
    await migrate(migration(own, { role: { name: role, password: "it's new" } }));
    expect(await query(asRole(role, "it's new"), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await expect(query(asRole(role, "first"), "SELECT 1")).rejects.toThrow(/password|auth/);
    await migrate(migration(own, { role: { name: role } }));
    expect(await query(asRole(role, "it's new"), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});
