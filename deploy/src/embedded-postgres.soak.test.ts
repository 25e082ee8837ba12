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
import { PostgresInUseError, openEmbeddedPostgres } from "./embedded-postgres.ts";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "./embedded-postgres.ts";

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };
/** A skipped test says what it lacks, for `npm test` to count. */
const needing =
  (what: string, isThere: boolean) =>
  (title: string, body: () => Promise<void>): void =>
    isThere ? test(title, body) : test.skip(`${title} (no ${what})`, body);
const asRoot = needing("root", isRoot);
const asRootAndNobody = needing("Node for another user", isRoot && canRunNode(nobody));

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe("openEmbeddedPostgres", () => {
  test("what was written is there after an orderly stop and another start", async () => {
    const directory = await makeDirectory();
    const first = await open({ directory });
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();

    const second = await open({ directory });

    expect(await query(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  });

  test("a database that a killed owner left running is taken over with its rows", async () => {
    const directory = await makeDirectory();
    const owner = await openInOtherProcess(directory);
    await query(owner.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const orphan = await postmasterOf(directory);
    owner.process.kill("SIGKILL");
    await once(owner.process, "exit");
    expect(isAlive(orphan)).toBe(true);

    const lines: string[] = [];
    const heir = await open({ directory, report: (line) => lines.push(line) });

    expect(await query(heir.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    expect(await postmasterOf(directory)).not.toBe(orphan);
    expect(lines.join("\n")).toContain(`process ${orphan}`);
  });

  // PostgreSQL does not start beside them: two would write the same pages.
  test("sessions that outlive a killed postmaster are waited for", async () => {
    const directory = await makeDirectory();
    const first = await open({ directory });
    const release = join(directory, "release");
    const client = new Client(first.url);
    // It may be told of the postmaster's end after its answer.
    client.on("error", () => undefined);
    await client.connect();
    const loop = `WHILE pg_stat_file('${release}', true) IS NULL LOOP END LOOP`;
    const working = client.query(`DO $$ BEGIN ${loop}; END $$`).catch(() => undefined);
    await waitUntil("it works", async () => {
      const sql = "SELECT FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'";
      return (await query(first.url, sql)).length === 1;
    });
    process.kill(await postmasterOf(directory), "SIGKILL");
    await first.stop();

    const opening = open({ directory });
    await waitUntil("it is waited for", async () =>
      (await readFile(join(directory, "postgres.log"), "utf8")).includes("is still in use"),
    );
    await writeFile(release, "");

    expect(await query((await opening).url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
    await working;
    await client.end();
  });

  // Most containers do not let root see another user's `/proc/<pid>/exe`.
  asRoot("an orphan is taken over without the right to look into others' processes", async () => {
    const directory = await makeDirectory();
    const owner = await openInOtherProcess(directory);
    const orphan = await postmasterOf(directory);
    owner.process.kill("SIGKILL");
    await once(owner.process, "exit");

    const heir = spawnOwner(directory, {}, ["setpriv", "--bounding-set", "-sys_ptrace"]);

    const [said] = await once(createInterface(heir.stderr), "line");
    expect(said).toContain(`left running (process ${orphan})`);
    await once(createInterface(heir.stdout), "line");
  });

  test("a directory whose owner is alive is refused by name, and its database goes on", async () => {
    const directory = await makeDirectory();
    const owner = await openInOtherProcess(directory);

    const refused = open({ directory });

    await expect(refused).rejects.toThrow(PostgresInUseError);
    await expect(refused).rejects.toThrow(`process ${owner.process.pid}`);
    expect(await query(owner.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("a second owner in the same process is refused as well", async () => {
    const directory = await makeDirectory();
    await open({ directory });

    await expect(open({ directory })).rejects.toThrow(PostgresInUseError);
  });

  // Guards against killing a process that now has the dead server's process id.
  test("a stranger whose process id stands in a stale postmaster.pid lives on", async () => {
    const directory = await makeDirectory();
    const first = await open({ directory });
    const pidFile = join(first.directory, "data", "postmaster.pid");
    const text = await readFile(pidFile, "utf8");
    await first.stop();
    const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
    cleanups.push(() => endProcess(stranger));
    await writeFile(pidFile, text.replace(/^\d+/, String(stranger.pid)));

    const second = await open({ directory });

    expect(await query(second.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  // Guards against taking over another directory's server, which is a postgres as well.
  test("the server of another directory is no orphan of ours", async () => {
    const [directory, otherDirectory] = [await makeDirectory(), await makeDirectory()];
    const other = await open({ directory: otherDirectory });
    const first = await open({ directory });
    const pidFile = join(first.directory, "data", "postmaster.pid");
    await first.stop();
    await writeFile(pidFile, `${await postmasterOf(other.directory)}\n`);

    await open({ directory });

    expect(await query(other.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("an owner that is killed while the cluster is made leaves nothing that hinders", async () => {
    const directory = await makeDirectory();
    const owner = spawnOwner(directory, {});
    await waitUntil("a draft is begun", async () => {
      const found = execFileSync("find", [directory, "-name", "PG_VERSION"], { encoding: "utf8" });
      return found.includes("draft-");
    });
    owner.kill("SIGKILL");
    await once(owner, "exit");

    const heir = await open({ directory });

    expect(await query(heir.url, "SELECT 42 AS answer")).toEqual([{ answer: 42 }]);
  });

  test("only the password opens it, and only its owner reads that", async () => {
    const { url, directory } = await open({ directory: await makeDirectory() });
    const wrong = new URL(url);
    wrong.password = "wrong";

    await expect(query(wrong.href, "SELECT 1")).rejects.toThrow("password authentication failed");
    expect((await stat(join(directory, "password"))).mode & 0o777).toBe(0o600);
    expect(new URL(url).password).toHaveLength(32);
    expect(await query(url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
    expect(await query(url, "SHOW unix_socket_directories")).toEqual([
      { unix_socket_directories: "" },
    ]);
  });

  test("a crash loses nothing by default, and a caller may say otherwise", async () => {
    const durable = await open({ directory: await makeDirectory() });
    const quick = await open({ directory: await makeDirectory(), settings: { fsync: "off" } });

    expect(await query(durable.url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
    expect(await query(quick.url, "SHOW fsync")).toEqual([{ fsync: "off" }]);
  });

  test("a failing statement's values do not reach the log", async () => {
    const { url, directory } = await open({ directory: await makeDirectory() });

    await expect(query(url, "SELECT 'hunter2'::integer")).rejects.toThrow("invalid input syntax");

    const log = await readFile(join(directory, "postgres.log"), "utf8");
    expect(log).toContain("ready to accept connections");
    expect(log).not.toContain("hunter2");
  });

  test("a port that is taken is named", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    cleanups.push(() => once(holder.close(), "close"));
    const address = holder.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has a port");

    const refused = open({ directory: await makeDirectory(), port: address.port });

    await expect(refused).rejects.toThrow(`port ${address.port}`);
    await expect(refused).rejects.toThrow("Address already in use");
  });

  test("its end without us is reported, and stopping it then does nothing", async () => {
    const lines: string[] = [];
    const report = (line: string) => lines.push(line);
    const { directory, stop } = await open({ directory: await makeDirectory(), report });

    process.kill(await postmasterOf(directory), "SIGQUIT");

    await waitUntil("it is reported", () => lines.some((line) => line.includes("ended by itself")));
    await stop();
  });

  // Guards against a terminal's Ctrl-C, which goes to the whole process group at once.
  test("it runs in a session of its own", async () => {
    const { directory } = await open({ directory: await makeDirectory() });
    const pid = await postmasterOf(directory);

    const session = execFileSync("ps", ["-o", "sid=", "-p", String(pid)], { encoding: "utf8" });

    expect(Number(session)).toBe(pid);
  });

  asRoot("root hands it to the user postgres", async () => {
    const { directory } = await open({ directory: await makeDirectory() });
    const pid = String(await postmasterOf(directory));

    expect(execFileSync("ps", ["-o", "user=", "-p", pid], { encoding: "utf8" }).trim()).toBe(
      "postgres",
    );
  });

  asRoot("where postgres may not enter, it lives elsewhere and stays there", async () => {
    const parent = await makeDirectory();
    await chmod(parent, 0o700);
    const lines: string[] = [];
    const report = (line: string) => lines.push(line);
    const first = await open({ directory: join(parent, "a"), report });
    const second = await open({ directory: join(parent, "b"), report });
    cleanups.unshift(() => rm(first.directory, { recursive: true }));
    cleanups.unshift(() => rm(second.directory, { recursive: true }));
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();
    await chmod(parent, 0o755);

    const again = await open({ directory: join(parent, "a"), report });

    expect(first.directory).toMatch(/^\/var\/lib\/payment-links\//);
    expect(second.directory).not.toBe(first.directory);
    expect(again.directory).toBe(first.directory);
    expect(await query(again.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    expect(lines.filter((line) => line.includes(first.directory))).toHaveLength(2);
  });

  asRootAndNobody("an ordinary user runs it, and root after that as the same user", async () => {
    const directory = join(await makeDirectory(), "own");
    await mkdir(directory);
    await chown(directory, nobody.uid, nobody.gid);
    const owner = await openInOtherProcess(directory, nobody);
    await query(owner.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await endProcess(owner.process);

    const root = await open({ directory });

    expect(await query(root.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    expect((await stat(`/proc/${await postmasterOf(directory)}`)).uid).toBe(nobody.uid);
  });

  asRootAndNobody("a directory of somebody else is refused in words", async () => {
    const directory = await makeDirectory();

    const owner = spawnOwner(directory, nobody);

    const [said] = await once(createInterface(owner.stderr), "line");
    expect(said).toContain("does it belong to another user?");
    await once(owner, "exit");
  });
});

/** A directory that is removed with its test, and that root's Postgres may enter. */
const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
  await chmod(directory, 0o755);
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const open = async (
  options: Omit<EmbeddedPostgresOptions, "report"> & { report?: (line: string) => unknown },
): Promise<EmbeddedPostgres> => {
  const postgres = await openEmbeddedPostgres({ report: () => {}, ...options });
  cleanups.push(postgres.stop);
  return postgres;
};

const ownerScript = `
  import { openEmbeddedPostgres } from ${JSON.stringify(new URL("embedded-postgres.ts", import.meta.url).href)};
  const report = console.error;
  const postgres = await openEmbeddedPostgres({ directory: process.argv[1], report }).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
  console.log(postgres.url);
  process.on("SIGTERM", () => postgres.stop());
`;

const spawnOwner = (
  directory: string,
  user: { uid?: number; gid?: number },
  under: readonly string[] = [],
) => {
  const [program, ...args] = [...under, process.execPath];
  args.push("--disable-warning=ExperimentalWarning", "--input-type=module");
  args.push("--eval", ownerScript, directory);
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const owner = spawn(program, args, { ...user, cwd: "/", stdio });
  cleanups.push(() => endProcess(owner));
  return owner;
};

/** Another process that owns the directory, until it is killed or asked to end. */
const openInOtherProcess = async (directory: string, user: { uid?: number; gid?: number } = {}) => {
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

const postmasterOf = async (directory: string): Promise<number> =>
  Number.parseInt(await readFile(join(directory, "data", "postmaster.pid"), "utf8"), 10);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

// A function, as it is needed before the tests are declared. It asks: may that user reach our Node
// and our files?
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
