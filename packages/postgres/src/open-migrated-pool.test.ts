import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { createHeldClock, openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { migrate } from "./migrate.ts";
import { openMigratedPool } from "./open-migrated-pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";

const log = openLog({ service: "test", level: "silent" });
const role = { name: `waits_${randomBytes(4).toString("hex")}`, password: "secret" };
const schema = "waits";

let database: TestDatabase;
let folder = "";
let older: URL;
let newer: URL;

beforeAll(async () => {
  database = await createTestDatabase([]);
  folder = await mkdtemp(join(tmpdir(), "migrated-"));
  older = await writeFolder("older", ["0001-a.sql"]);
  newer = await writeFolder("newer", ["0002-b.sql", "0003-c.sql"]);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await onDatabase(`DROP OWNED BY ${role.name}; DROP ROLE ${role.name}`);
  await database.drop();
});

const writeFolder = async (name: string, files: readonly string[]): Promise<URL> => {
  const path = join(folder, name);
  await mkdir(path);
  for (const file of files) await writeFile(join(path, file), "SELECT 1");
  return pathToFileURL(`${path}/`);
};

const onDatabase = async (text: string): Promise<void> => {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  await client.query(text);
  await client.end();
};

const ownUrl = (): URL => {
  const url = new URL(database.adminUrl);
  url.username = role.name;
  url.password = role.password;
  return url;
};

/** Begins to open a pool; `reasons` is what it has waited for so far. */
const begin = (url: URL) => {
  const clock = createHeldClock(new Date());
  const reasons: string[] = [];
  const opening = openMigratedPool({
    url: url.href,
    applicationName: "waits",
    connectionsMax: 2,
    migration: { schema, folders: [older, newer] },
    clock,
    waiting: (reason) => void reasons.push(reason),
    log,
  });
  const lookAgain = (text: RegExp) =>
    waitUntil(`the reason ${text.source}`, () => {
      clock.advance(1_000);
      return text.test(reasons.at(-1) ?? "");
    });
  return { clock, opening, reasons, lookAgain };
};

describe("a pool that waits for its schema", () => {
  test("says what is missing, step by step, and opens by itself once it is there", async () => {
    const { clock, opening, reasons, lookAgain } = begin(ownUrl());
    await lookAgain(/the role of waits cannot sign in yet/);
    await onDatabase(`CREATE ROLE ${role.name} LOGIN PASSWORD '${role.password}'`);
    await lookAgain(/schema waits is not made yet/);
    const { adminUrl } = database;
    await migrate({ adminUrl, role, schema, folders: [older] });
    await lookAgain(/schema waits is older .* it lacks 2 migrations, from 0002-b\.sql/);
    await migrate({ adminUrl, role, schema, folders: [older, newer] });
    const ticking = setInterval(() => clock.advance(1_000), 10);
    const pool = await opening.finally(() => clearInterval(ticking));
    await pool.end();
    expect(reasons.join()).not.toContain(role.password);
  });

  test("given a schema that is newer than its code, as while it is rolled back, opens", async () => {
    const { adminUrl } = database;
    const folders = [older, newer, await writeFolder("newest", ["0004-d.sql"])];
    await migrate({ adminUrl, role, schema, folders });
    const { opening, reasons } = begin(ownUrl());
    await (await opening).end();
    expect(reasons).toEqual([]);
  });

  test("waits for a database that is away", async () => {
    const url = ownUrl();
    url.port = "1";
    await begin(url).lookAgain(/the database cannot be reached/);
  });

  test("throws what no waiting heals", async () => {
    const url = ownUrl();
    url.searchParams.set("sslmode", "verify-full");
    await expect(begin(url).opening).rejects.toThrow(/sslmode/);
  });
});
