import { afterEach, describe, expect, test } from "@jest/globals";
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { PostgresInUseError, startEmbeddedPostgres } from "./embedded-postgres.ts";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "./embedded-postgres.ts";

const isRoot = process.getuid?.() === 0;
const unprivilegedUser = { uid: 65_534, gid: 65_534 };
/**
 * Adds the missing requirement to the title of a skipped test, because `npm test` reports it from
 * there.
 */
const testWhen =
  (requirement: string, isAvailable: boolean) =>
  (title: string, testBody: () => Promise<void>): void =>
    isAvailable ? test(title, testBody) : test.skip(`${title} (no ${requirement})`, testBody);
const testAsRoot = testWhen("root", isRoot);
const testAsRootWithUser = testWhen(
  "Node for another user",
  isRoot && canRunNode(unprivilegedUser),
);

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe("startEmbeddedPostgres", () => {
  test("preserves its data across a clean stop and another start", async () => {
    const directory = await makeDirectory();
    const firstPostgres = await startPostgres({ directory });
    await query(firstPostgres.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await firstPostgres.stop();

    const secondPostgres = await startPostgres({ directory });

    expect(await query(secondPostgres.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  });

  test("takes over a database that a killed owner left running, with its rows", async () => {
    const directory = await makeDirectory();
    const owner = await startInOtherProcess(directory);
    await query(owner.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const orphanPid = await readPostmasterPid(directory);
    owner.process.kill("SIGKILL");
    await once(owner.process, "exit");
    expect(isAlive(orphanPid)).toBe(true);

    const lines: string[] = [];
    const secondOwner = await startPostgres({ directory, report: (line) => lines.push(line) });

    expect(await query(secondOwner.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    expect(await readPostmasterPid(directory)).not.toBe(orphanPid);
    expect(lines.join("\n")).toContain(`process ${orphanPid}`);
  });

  // PostgreSQL does not start while these sessions run, because two servers would write to the same
  // pages.
  test("waits for sessions that outlive a killed postmaster", async () => {
    const directory = await makeDirectory();
    const firstPostgres = await startPostgres({ directory });
    const release = join(directory, "release");
    const client = new Client(firstPostgres.url);
    // The server may report the exit of the postmaster after the query result.
    client.on("error", () => undefined);
    await client.connect();
    const loop = `WHILE pg_stat_file('${release}', true) IS NULL LOOP END LOOP`;
    const runningQuery = client.query(`DO $$ BEGIN ${loop}; END $$`).catch(() => undefined);
    await waitUntil("the query runs", async () => {
      const sql = "SELECT FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'";
      return (await query(firstPostgres.url, sql)).length === 1;
    });
    process.kill(await readPostmasterPid(directory), "SIGKILL");
    await firstPostgres.stop();

    const startingPostgres = startPostgres({ directory });
    await waitUntil("the start waits for the session", async () =>
      (await readFile(join(directory, "postgres.log"), "utf8")).includes("is still in use"),
    );
    await writeFile(release, "");

    expect(await query((await startingPostgres).url, "SELECT 42 AS answer")).toEqual([
      { answer: 42 },
    ]);
    await runningQuery;
    await client.end();
  });

  // In most containers, root cannot read another user's `/proc/<pid>/exe`.
  testAsRoot(
    "takes over an orphan without permission to inspect other users' processes",
    async () => {
      const directory = await makeDirectory();
      const owner = await startInOtherProcess(directory);
      const orphanPid = await readPostmasterPid(directory);
      owner.process.kill("SIGKILL");
      await once(owner.process, "exit");

      const secondOwner = spawnOwner(directory, {}, ["setpriv", "--bounding-set", "-sys_ptrace"]);

      const [errorLine] = await once(createInterface(secondOwner.stderr), "line");
      expect(errorLine).toContain(`left running (process ${orphanPid})`);
      await once(createInterface(secondOwner.stdout), "line");
    },
  );

  test("rejects a directory whose owner is running and names the owner, whose database continues", async () => {
    const directory = await makeDirectory();
    const owner = await startInOtherProcess(directory);

    const rejected = startPostgres({ directory });

    await expect(rejected).rejects.toThrow(PostgresInUseError);
    await expect(rejected).rejects.toThrow(`process ${owner.process.pid}`);
    expect(await query(owner.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("rejects a second owner in the same process", async () => {
    const directory = await makeDirectory();
    await startPostgres({ directory });

    await expect(startPostgres({ directory })).rejects.toThrow(PostgresInUseError);
  });

  // Checks that a process that has reused the dead server's process id is not killed.
  test("does not kill an unrelated process whose id is in a stale postmaster.pid", async () => {
    const directory = await makeDirectory();
    const firstPostgres = await startPostgres({ directory });
    const pidFile = join(firstPostgres.directory, "data", "postmaster.pid");
    const text = await readFile(pidFile, "utf8");
    await firstPostgres.stop();
    const otherProcess = spawn("sleep", ["60"], { stdio: "ignore" });
    cleanups.push(() => endProcess(otherProcess));
    await writeFile(pidFile, text.replace(/^\d+/, String(otherProcess.pid)));

    const secondPostgres = await startPostgres({ directory });

    expect(await query(secondPostgres.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
    expect(otherProcess.exitCode ?? otherProcess.signalCode).toBeNull();
  });

  // Checks that the server of another directory is not taken over, although it is also a postgres
  // process.
  test("does not stop the server of another directory", async () => {
    const [directory, otherDirectory] = [await makeDirectory(), await makeDirectory()];
    const otherPostgres = await startPostgres({ directory: otherDirectory });
    const firstPostgres = await startPostgres({ directory });
    const pidFile = join(firstPostgres.directory, "data", "postmaster.pid");
    await firstPostgres.stop();
    await writeFile(pidFile, `${await readPostmasterPid(otherPostgres.directory)}\n`);

    await startPostgres({ directory });

    expect(await query(otherPostgres.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("starts after an owner was killed while creating the cluster", async () => {
    const directory = await makeDirectory();
    const owner = spawnOwner(directory, {});
    await waitUntil("the draft cluster exists", async () => {
      const findOutput = execFileSync("find", [directory, "-name", "PG_VERSION"], {
        encoding: "utf8",
      });
      return findOutput.includes("draft-");
    });
    owner.kill("SIGKILL");
    await once(owner, "exit");

    const secondOwner = await startPostgres({ directory });

    expect(await query(secondOwner.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("requires the password, which only its owner can read", async () => {
    const { url, directory } = await startPostgres({ directory: await makeDirectory() });
    const wrongUrl = new URL(url);
    wrongUrl.password = "wrong";

    await expect(query(wrongUrl.href, "SELECT 1")).rejects.toThrow(
      "password authentication failed",
    );
    expect((await stat(join(directory, "password"))).mode & 0o777).toBe(0o600);
    expect(new URL(url).password).toHaveLength(32);
    expect(await query(url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
    expect(await query(url, "SHOW unix_socket_directories")).toEqual([
      { unix_socket_directories: "" },
    ]);
  });

  test("is durable by default, and settings can override that", async () => {
    const defaultPostgres = await startPostgres({ directory: await makeDirectory() });
    const fastPostgres = await startPostgres({
      directory: await makeDirectory(),
      settings: { fsync: "off" },
    });

    expect(await query(defaultPostgres.url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
    expect(await query(fastPostgres.url, "SHOW fsync")).toEqual([{ fsync: "off" }]);
  });

  test("writes no values of a failing statement to the log", async () => {
    const { url, directory } = await startPostgres({ directory: await makeDirectory() });

    await expect(query(url, "SELECT 'hunter2'::integer")).rejects.toThrow("invalid input syntax");

    const log = await readFile(join(directory, "postgres.log"), "utf8");
    expect(log).toContain("ready to accept connections");
    expect(log).not.toContain("hunter2");
  });

  test("names a port in use", async () => {
    const portHolder = createServer().listen(0, "127.0.0.1");
    await once(portHolder, "listening");
    cleanups.push(() => once(portHolder.close(), "close"));
    const address = portHolder.address();
    if (address === null || typeof address === "string")
      throw new Error("the TCP server has no port");

    const rejected = startPostgres({ directory: await makeDirectory(), port: address.port });

    await expect(rejected).rejects.toThrow(`port ${address.port}`);
    await expect(rejected).rejects.toThrow("Address already in use");
  });

  test("reports an unexpected exit, after which stop does nothing", async () => {
    const lines: string[] = [];
    const report = (line: string) => lines.push(line);
    const { directory, stop } = await startPostgres({ directory: await makeDirectory(), report });

    process.kill(await readPostmasterPid(directory), "SIGQUIT");

    await waitUntil("the exit is reported", () =>
      lines.some((line) => line.includes("exited unexpectedly")),
    );
    await stop();
  });

  // Simulates Ctrl-C in a terminal, which signals the whole process group.
  test("runs in its own session", async () => {
    const { directory } = await startPostgres({ directory: await makeDirectory() });
    const pid = await readPostmasterPid(directory);

    const session = execFileSync("ps", ["-o", "sid=", "-p", String(pid)], { encoding: "utf8" });

    expect(Number(session)).toBe(pid);
  });

  testAsRoot("runs as the user postgres if root starts it", async () => {
    const { directory } = await startPostgres({ directory: await makeDirectory() });
    const pid = String(await readPostmasterPid(directory));

    expect(execFileSync("ps", ["-o", "user=", "-p", pid], { encoding: "utf8" }).trim()).toBe(
      "postgres",
    );
  });

  testAsRoot(
    "stays in another directory if the user postgres could not enter the requested one",
    async () => {
      const parentDirectory = await makeDirectory();
      await chmod(parentDirectory, 0o700);
      const lines: string[] = [];
      const report = (line: string) => lines.push(line);
      const firstPostgres = await startPostgres({ directory: join(parentDirectory, "a"), report });
      const secondPostgres = await startPostgres({ directory: join(parentDirectory, "b"), report });
      cleanups.unshift(() => rm(firstPostgres.directory, { recursive: true }));
      cleanups.unshift(() => rm(secondPostgres.directory, { recursive: true }));
      await query(firstPostgres.url, "CREATE TABLE kept AS SELECT 42 AS answer");
      await firstPostgres.stop();
      await chmod(parentDirectory, 0o755);

      const restarted = await startPostgres({ directory: join(parentDirectory, "a"), report });

      expect(firstPostgres.directory).toMatch(/^\/var\/lib\/payment-links\//);
      expect(secondPostgres.directory).not.toBe(firstPostgres.directory);
      expect(restarted.directory).toBe(firstPostgres.directory);
      expect(await query(restarted.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
      expect(lines.filter((line) => line.includes(firstPostgres.directory))).toHaveLength(2);
    },
  );

  testAsRootWithUser(
    "runs as the ordinary user who created it, even if root starts it later",
    async () => {
      const directory = join(await makeDirectory(), "own");
      await mkdir(directory);
      await chown(directory, unprivilegedUser.uid, unprivilegedUser.gid);
      const owner = await startInOtherProcess(directory, unprivilegedUser);
      await query(owner.url, "CREATE TABLE kept AS SELECT 42 AS answer");
      await endProcess(owner.process);

      const root = await startPostgres({ directory });

      expect(await query(root.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
      expect((await stat(`/proc/${await readPostmasterPid(directory)}`)).uid).toBe(
        unprivilegedUser.uid,
      );
    },
  );

  testAsRootWithUser("rejects another user's directory with a clear message", async () => {
    const directory = await makeDirectory();

    const owner = spawnOwner(directory, unprivilegedUser);

    const [errorLine] = await once(createInterface(owner.stderr), "line");
    expect(errorLine).toContain("does it belong to another user?");
    await once(owner, "exit");
  });
});

/**
 * Creates a directory that Postgres can enter even if root runs the test. It is removed after the
 * test.
 */
const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
  await chmod(directory, 0o755);
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const startPostgres = async (
  options: Omit<EmbeddedPostgresOptions, "report"> & { report?: (line: string) => unknown },
): Promise<EmbeddedPostgres> => {
  const postgres = await startEmbeddedPostgres({ report: () => {}, ...options });
  cleanups.push(postgres.stop);
  return postgres;
};

const ownerScript = `
  import { startEmbeddedPostgres } from ${JSON.stringify(new URL("embedded-postgres.ts", import.meta.url).href)};
  const report = console.error;
  const postgres = await startEmbeddedPostgres({ directory: process.argv[1], report }).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
  console.log(postgres.url);
  process.on("SIGTERM", () => postgres.stop());
`;

const spawnOwner = (
  directory: string,
  user: { uid?: number; gid?: number },
  wrapperCommand: readonly string[] = [],
) => {
  const [program, ...args] = [...wrapperCommand, process.execPath];
  args.push("--disable-warning=ExperimentalWarning", "--input-type=module");
  args.push("--eval", ownerScript, directory);
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const owner = spawn(program, args, { ...user, cwd: "/", stdio });
  cleanups.push(() => endProcess(owner));
  return owner;
};

/** Starts another process that owns the directory until it is killed or stopped. */
const startInOtherProcess = async (
  directory: string,
  user: { uid?: number; gid?: number } = {},
) => {
  const owner = spawnOwner(directory, user);
  const [url] = await once(createInterface(owner.stdout), "line");
  return { process: owner, url: String(url) };
};

const endProcess = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
};

const query = async (url: string, text: string): Promise<unknown[]> => {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

const readPostmasterPid = async (directory: string): Promise<number> =>
  Number.parseInt(await readFile(join(directory, "data", "postmaster.pid"), "utf8"), 10);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

// Returns whether the user can access our Node and our files. This is a function declaration,
// because it is called before the tests are declared.
function canRunNode(user: { uid: number; gid: number }): boolean {
  try {
    const paths = [process.execPath, import.meta.filename];
    execFileSync("/bin/sh", ["-c", 'test -x "$0" && test -r "$1"', ...paths], {
      ...user,
      cwd: "/",
    });
    return true;
  } catch {
    return false;
  }
}
