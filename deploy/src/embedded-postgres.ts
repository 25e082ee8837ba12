import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync } from "node:fs";
import * as fs from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findPostgresHome } from "./postgres-home.ts";
import type { PostgresHome } from "./postgres-home.ts";

/** The options of {@link startEmbeddedPostgres}. */
export type EmbeddedPostgresOptions = {
  /** The database's folder; created if missing. */
  readonly directory: string;
  /** The TCP port on 127.0.0.1. Default: a free port. */
  readonly port?: number;
  /** Additional PostgreSQL settings, such as `{ max_connections: '300' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives messages for the user, for example about an unexpected exit. */
  readonly report: (line: string) => void;
  /** Called if PostgreSQL exits unexpectedly. */
  readonly onUnexpectedExit?: () => void;
};

/** A running embedded PostgreSQL. */
export type EmbeddedPostgres = {
  /** The superuser's connection URL, including the password. */
  readonly url: string;
  /** The actual location of data, password and log: `directory`, or a folder below /var/lib. */
  readonly directory: string;
  /** Stops PostgreSQL (fast shutdown) and releases the directory. Further calls do nothing. */
  readonly stop: () => Promise<void>;
};

/** Thrown if another running process owns the directory. The message names the process. */
export class PostgresInUseError extends Error {}

const startMsMax = 120_000;
const stopMsMax = 30_000;
const quitMsMax = 10_000;
const ownerWaitMsMax = 2_000;
const pollMs = 20;
const portAttemptsMax = 3;
const sharedMemoryPollMs = 500;
/** PostgreSQL's message if a process from an earlier start still uses the same data. */
const sharedMemoryMessage = "pre-existing shared memory block";
const logBytesMax = 1_000_000;
const logTailLines = 12;

const runFile = promisify(execFile);

/**
 * Starts the packaged PostgreSQL with its data in `directory`. It is durable, listens only on
 * 127.0.0.1, and has a random password. If a killed process left a server running, stops that
 * server first. If another running process owns the directory, throws {@link PostgresInUseError}.
 */
export const startEmbeddedPostgres = async ({
  directory,
  port,
  settings = {},
  report,
  onUnexpectedExit = () => {},
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const postgresHome = await findPostgresHome(directory, report);
  const releaseOwnership = await acquireOwnership(postgresHome.directory);
  try {
    const password = await ensureCluster(postgresHome);
    await stopOrphan(postgresHome, report);
    const server = await launchOnPort(postgresHome, port, settings);
    let stopping: Promise<void> | undefined;
    server.process.once("exit", (code, signal) => {
      if (stopping !== undefined) return;
      report(`PostgreSQL exited unexpectedly (${signal ?? code})`);
      onUnexpectedExit();
    });
    const stop = async () => {
      await stopServer(server.process);
      await releaseOwnership();
    };
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`,
      directory: postgresHome.directory,
      stop: () => (stopping ??= stop()),
    };
  } catch (error) {
    await releaseOwnership();
    throw error;
  }
};

/**
 * Acquires exclusive ownership of a directory, because two owners would stop each other's database.
 * Returns a function that releases it. The lock is SQLite's, the only file lock that is available
 * in Node. The kernel releases it when the process exits for any reason, so it cannot become stale.
 */
const acquireOwnership = async (directory: string): Promise<() => Promise<void>> => {
  const lock = openLock(directory);
  const ownerFile = join(directory, "owner.txt");
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!String(error).includes("database is locked")) throw error;
    const owner = (await readIfExists(ownerFile))?.trim() ?? "another process";
    throw new PostgresInUseError(`the database in ${directory} is in use by ${owner}`);
  }
  await fs.writeFile(ownerFile, `process ${process.pid} since ${new Date().toISOString()}\n`);
  return async () => {
    await fs.rm(ownerFile, { force: true });
    lock.close();
  };
};

const openLock = (directory: string): DatabaseSync => {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    // After an owner is killed, its lock remains until the kernel has cleaned up the process.
    return new DatabaseSync(join(directory, "owner.lock"), { timeout: ownerWaitMsMax });
  } catch (cause) {
    throw new Error(`${directory} is not accessible: does it belong to another user?`, {
      cause,
    });
  }
};

/** Creates the cluster if there is none, and returns the superuser's password. */
const ensureCluster = async (postgresHome: PostgresHome): Promise<string> => {
  const passwordFile = join(postgresHome.directory, "password");
  const storedPassword = await readIfExists(passwordFile);
  if (existsSync(join(postgresHome.directory, "data", "PG_VERSION"))) {
    if (storedPassword === undefined) {
      throw new Error(`${passwordFile} is missing: restore it with the data`);
    }
    return storedPassword;
  }

  const password = storedPassword ?? randomBytes(24).toString("base64url");
  await initializeCluster(postgresHome, passwordFile, password);
  return password;
};

// Creates the cluster in a draft folder and moves it at the end. If the process is killed, there is
// either no cluster or a complete one. Each draft has a unique name, because the initdb of a killed
// process may still be writing to the previous draft.
const initializeCluster = async (
  { directory, binDirectory, runAs }: PostgresHome,
  passwordFile: string,
  password: string,
): Promise<void> => {
  const draft = await fs.mkdtemp(join(directory, "draft-"));
  try {
    const [dataDirectory, draftPassword] = [join(draft, "data"), join(draft, "password")];
    await fs.writeFile(draftPassword, password, { mode: 0o600 });
    if (runAs !== undefined) {
      await fs.chown(draftPassword, runAs.uid, runAs.gid);
      await fs.chown(draft, runAs.uid, runAs.gid);
    }
    const args = ["-D", dataDirectory, "--username=postgres", `--pwfile=${draftPassword}`];
    args.push("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C");
    await runFile(join(binDirectory, "initdb"), args, { ...runAs, cwd: draft, env: environment });
    await fs.writeFile(`${passwordFile}.draft`, password, { mode: 0o600, flush: true });
    await fs.rename(`${passwordFile}.draft`, passwordFile);
    await fs.rename(dataDirectory, join(directory, "data"));
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
};

/** Stops the server of this directory if it is still running after its parent was killed. */
const stopOrphan = async (
  postgresHome: PostgresHome,
  report: (line: string) => void,
): Promise<void> => {
  const dataDirectory = await fs.realpath(join(postgresHome.directory, "data"));
  const pidFile = join(dataDirectory, "postmaster.pid");
  const pid = Number.parseInt((await readIfExists(pidFile)) ?? "", 10);
  if (Number.isNaN(pid)) return;

  if (await isPostmaster(pid, dataDirectory)) {
    report(`restarting the PostgreSQL that a killed process left running (process ${pid})`);
    await stopPostmaster(
      () => isPostmaster(pid, dataDirectory),
      (signal) => signalIfRunning(pid, signal),
    );
  }
  // PostgreSQL does not start while a process with the id in this file exists, even if the id was
  // reused after a reboot. At this point, that process cannot be a server of this data.
  await fs.rm(pidFile, { force: true });
};

const signalIfRunning = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
};

// Checks the process arguments, because root can read them even in containers that hide `exe` and
// `cwd` of other users' processes. A zombie does not have arguments, so it counts as exited even if
// process 1 never reaps it. `cwd` is correct even if the folder was moved.
const isPostmaster = async (pid: number, dataDirectory: string): Promise<boolean> => {
  const args = await readArguments(pid).catch(() => "");
  const workingDirectory = await fs.readlink(`/proc/${pid}/cwd`).catch(() => "");
  const runsInDataDirectory = workingDirectory === dataDirectory;
  return args.includes(runsInDataDirectory ? "/postgres -D " : `/postgres -D ${dataDirectory} `);
};

const readArguments = async (pid: number): Promise<string> =>
  process.platform === "linux"
    ? (await fs.readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ")
    : (await runFile("ps", ["-o", "args=", "-p", String(pid)])).stdout;

const stopServer = (child: ChildProcess): Promise<void> =>
  stopPostmaster(
    () => isRunning(child),
    (signal) => child.kill(signal),
  );

// SIGINT triggers PostgreSQL's fast shutdown. SIGQUIT exits immediately, and the next start
// performs crash recovery.
const stopPostmaster = async (
  isAlive: () => boolean | Promise<boolean>,
  send: (signal: NodeJS.Signals) => unknown,
): Promise<void> => {
  const hasExited = async () => !(await isAlive());
  if (await hasExited()) return;
  send("SIGINT");
  if (await waitUntil(hasExited, stopMsMax)) return;
  send("SIGQUIT");
  if (await waitUntil(hasExited, quitMsMax)) return;
  throw new Error("PostgreSQL did not exit after SIGINT and SIGQUIT");
};

const launchOnPort = async (
  postgresHome: PostgresHome,
  port: number | undefined,
  settings: Readonly<Record<string, string>>,
) => {
  const sharedMemoryDeadlineMs = performance.now() + stopMsMax;
  for (let portAttempts = 1; ;) {
    try {
      return await launchPostgres(postgresHome, port ?? (await findFreePort()), settings);
    } catch (error) {
      const errorText = String(error);
      const canRetryPort = port === undefined && portAttempts < portAttemptsMax;
      // Sessions of a killed postmaster continue until their current statement finishes.
      if (errorText.includes(sharedMemoryMessage) && performance.now() < sharedMemoryDeadlineMs)
        await sleep(sharedMemoryPollMs);
      // Another process may take the free port before PostgreSQL does.
      else if (errorText.includes("Address already in use") && canRetryPort) portAttempts += 1;
      else throw error;
    }
  }
};

const launchPostgres = async (
  { directory, binDirectory, runAs }: PostgresHome,
  port: number,
  settings: Readonly<Record<string, string>>,
) => {
  const dataDirectory = await fs.realpath(join(directory, "data"));
  const logFile = join(directory, "postgres.log");
  const size = (await fs.stat(logFile).catch(() => undefined))?.size ?? 0;
  const log = await fs.open(logFile, size > logBytesMax ? "w" : "a", 0o600);
  const effectiveSettings = { ...defaultSettings, ...settings, port: String(port) };
  const flags = Object.entries(effectiveSettings).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const child = spawn(join(binDirectory, "postgres"), ["-D", dataDirectory, ...flags], {
    ...runAs,
    cwd: dataDirectory,
    env: environment,
    // Runs in a separate session, because Ctrl-C in the terminal must not stop it before the
    // services have stopped.
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  await once(child, "spawn").finally(() => log.close());

  // Line 8 of this file contains the status; `pg_ctl` waits for it as well.
  const isReady = async () => {
    const lines = (await readIfExists(join(dataDirectory, "postmaster.pid")))?.split("\n") ?? [];
    return lines[0] === String(child.pid) && lines[7]?.trim() === "ready";
  };
  const hasStartedOrExited = await waitUntil(
    async () => !isRunning(child) || (await isReady()),
    startMsMax,
  );
  if (hasStartedOrExited && isRunning(child)) return { process: child, port };
  await stopServer(child);
  const logTail = (await readIfExists(logFile))
    ?.trimEnd()
    .split("\n")
    .slice(-logTailLines)
    .join("\n");
  throw new Error(`PostgreSQL did not start on port ${port}; the end of ${logFile}:\n${logTail}`);
};

/**
 * Settings that keep customer data out of the log: failed statements are reported only to the
 * client, and the log contains only server events.
 */
const defaultSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
} as const;

/** PostgreSQL does not get our environment variables, which include secrets. */
const environment: NodeJS.ProcessEnv = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string")
    throw new Error("the TCP server does not have a port");
  return address.port;
};

const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

const readIfExists = (path: string): Promise<string | undefined> =>
  fs.readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });

const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> => {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
};
