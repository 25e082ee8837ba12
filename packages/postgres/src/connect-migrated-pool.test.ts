import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { migrate } from "./migrate.ts";
import { connectMigratedPool } from "./connect-migrated-pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";

const log = createLog({ service: "test", level: "silent" });
const role = { name: `waits_${randomBytes(4).toString("hex")}`, password: "secret" };
const schema = "waits";

let database: TestDatabase;
let folder = "";
let olderFolder: URL;
let newerFolder: URL;

beforeAll(async () => {
  database = await createTestDatabase([]);
  folder = await mkdtemp(join(tmpdir(), "migrated-"));
  olderFolder = await writeFolder("older", ["0001-a.sql"]);
  newerFolder = await writeFolder("newer", ["0002-b.sql", "0003-c.sql"]);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await runOnDatabase(`DROP OWNED BY ${role.name}; DROP ROLE ${role.name}`);
  await database.drop();
});

const writeFolder = async (name: string, files: readonly string[]): Promise<URL> => {
  const path = join(folder, name);
  await mkdir(path);
  for (const file of files) await writeFile(join(path, file), "SELECT 1");
  return pathToFileURL(`${path}/`);
};

const runOnDatabase = async (querySql: string): Promise<void> => {
  const client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  await client.query(querySql);
  await client.end();
};

const getRoleUrl = (): URL => {
  const url = new URL(database.adminUrl);
  url.username = role.name;
  url.password = role.password;
  return url;
};

/** Starts to connect a pool. `reasons` lists the reasons for waiting so far. */
const startConnecting = (url: URL) => {
  const clock = createFakeClock(new Date());
  const reasons: string[] = [];
  const pendingPool = connectMigratedPool({
    url: url.href,
    applicationName: "waits",
    connectionsMax: 2,
    migration: { schema, folders: [olderFolder, newerFolder] },
    clock,
    onWait: (reason) => void reasons.push(reason),
    log,
  });
  const waitForReason = (pattern: RegExp) =>
    waitUntil(`the reason ${pattern.source}`, () => {
      clock.advance(1_000);
      return pattern.test(reasons.at(-1) ?? "");
    });
  return { clock, pendingPool, reasons, waitForReason };
};

describe("connectMigratedPool", () => {
  test("reports each missing prerequisite, and connects as soon as the schema is complete", async () => {
    const { clock, pendingPool, reasons, waitForReason } = startConnecting(getRoleUrl());
    await waitForReason(/the role of waits cannot log in yet/);
    await runOnDatabase(`CREATE ROLE ${role.name} LOGIN PASSWORD '${role.password}'`);
    await waitForReason(/schema waits is not set up yet/);
    const { adminUrl } = database;
    await migrate({ adminUrl, role, schema, folders: [olderFolder] });
    await waitForReason(/schema waits is older .* missing 2 migrations, starting with 0002-b\.sql/);
    await migrate({ adminUrl, role, schema, folders: [olderFolder, newerFolder] });
    const clockInterval = setInterval(() => clock.advance(1_000), 10);
    const pool = await pendingPool.finally(() => clearInterval(clockInterval));
    await pool.end();
    expect(reasons.join()).not.toContain(role.password);
  });

  test("connects to a schema newer than its code, as after a rollback of the service", async () => {
    const { adminUrl } = database;
    const folders = [olderFolder, newerFolder, await writeFolder("newest", ["0004-d.sql"])];
    await migrate({ adminUrl, role, schema, folders });
    const { pendingPool, reasons } = startConnecting(getRoleUrl());
    await (await pendingPool).end();
    expect(reasons).toEqual([]);
  });

  test("waits for a database that is unavailable", async () => {
    const url = getRoleUrl();
    url.port = "1";
    await startConnecting(url).waitForReason(/the database cannot be reached/);
  });

  test("throws an error that waiting cannot fix", async () => {
    const url = getRoleUrl();
    url.searchParams.set("sslmode", "verify-full");
    await expect(startConnecting(url).pendingPool).rejects.toThrow(/sslmode/);
  });
});
