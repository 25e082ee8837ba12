// Starts the processes of a test run. Each process leads its own process group. All of them are
// terminated when this process is interrupted.
import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, readlink, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { node24Path, nodeFlags } from "../deploy/node24.mjs";
import { root } from "./jest/jest.mjs";

const killMsMax = 20_000;

/** The running child processes. They are terminated when this process receives a signal. */
const children = new Set();
let interruptSignal;

/** Returns the signal that interrupted the run, or undefined. */
export const getInterruptSignal = () => interruptSignal;

/** Prints progress. Standard output is reserved for results. */
export const printToStderr = (line) => process.stderr.write(`${line}\n`);

/**
 * Starts Node 24 as the leader of a new process group, so that Ctrl-C in the terminal does not
 * signal it.
 */
export const startNode = (args, options) => {
  const child = spawn(node24Path, [...nodeFlags, ...args], {
    cwd: root,
    ...options,
    detached: true,
  });
  children.add(child);
  child.exited = new Promise((resolve) => {
    const onExit = (code) => {
      children.delete(child);
      // Kills the rest of the group: Jest's workers and the processes that they started.
      if (child.pid !== undefined) killIfRunning(-child.pid);
      resolve(code);
    };
    child.once("error", () => onExit(undefined));
    // 'close' would never fire after the IPC channel was disconnected.
    child.once("exit", onExit);
  });
  if (interruptSignal) terminate(child);
  return child;
};

/** Waits until a child exits and returns its exit code. Terminates the child after the timeout. */
export const waitForExit = async (child, timeoutMs) => {
  const timer = setTimeout(() => {
    printToStderr(`timed out after ${timeoutMs / 60_000} minutes`);
    terminate(child);
  }, timeoutMs);
  return await child.exited.finally(() => clearTimeout(timer));
};

const terminate = (child) => {
  child.kill("SIGTERM");
  const killTimer = setTimeout(() => killIfRunning(-child.pid), killMsMax);
  child.exited.then(() => clearTimeout(killTimer));
};

const killIfRunning = (pid) => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
};

/**
 * Runs a task with a new directory for its temporary files. Afterwards, kills the processes that
 * still work in this directory and removes it.
 */
export const withTemporaryDirectory = async (prefix, task) => {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  // When root runs the tests, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(directory, 0o711);
  try {
    return await task({ directory, env: { ...process.env, TMPDIR: directory } });
  } finally {
    await cleanUpDirectory(directory);
  }
};

/** Returns the exit code for this process: 128 plus the interrupting signal, or the given code. */
export const getExitCode = (code) =>
  interruptSignal ? 128 + constants.signals[interruptSignal] : code;

/**
 * Kills the leftover processes of a run and removes its directories. An interrupted test can leave
 * a database running in a session of its own. The database belongs to this run if its working
 * directory is below the run's directory or one of its replacements.
 */
const cleanUpDirectory = async (directory) => {
  const ownDirectories = [directory, ...(await listReplacementDirectories(directory))];
  // On systems without /proc, such databases keep running.
  for (const pid of await readdir("/proc").catch(() => [])) {
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    const isLeftover = ownDirectories.some((ownDirectory) =>
      workingDirectory.startsWith(`${ownDirectory}/`),
    );
    if (isLeftover) killIfRunning(Number(pid));
  }
  for (const ownDirectory of ownDirectories) {
    await rm(ownDirectory, { recursive: true, force: true, maxRetries: 5 });
  }
};

/**
 * Lists the directories that databases use instead of the given one. When root starts a database
 * below a directory that the user `postgres` cannot access, the database uses a replacement
 * directory.
 */
const listReplacementDirectories = async (directory) => {
  const parent = "/var/lib/payment-links";
  const postgresHomes = (await readdir(parent).catch(() => [])).map((name) => join(parent, name));
  const requestedDirectories = await Promise.all(
    postgresHomes.map((postgresHome) =>
      readFile(join(postgresHome, "made-for"), "utf8").catch(() => ""),
    ),
  );
  return postgresHomes.filter((_, index) =>
    requestedDirectories[index].startsWith(`${directory}/`),
  );
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (interruptSignal) return;
    interruptSignal = signal;
    for (const child of children) terminate(child);
  });
}
