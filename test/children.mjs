// The processes of a test run. Each is the head of a group of its own, and all of them end with
// this one.
import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, readlink, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { node24, nodeFlags } from "../deploy/node24.mjs";
import { root } from "./jest/jest.mjs";

const killMsMax = 20_000;

/** What has to be ended on a signal, or when time is over. */
const children = new Set();
let interruption;

/** The signal that ended the run early, if one did. */
export const interruptedBy = () => interruption;

/** Prints for whoever watches; standard output is for the result. */
export const report = (line) => process.stderr.write(`${line}\n`);

/** Starts Node 24 as the head of a process group, which a terminal's Ctrl-C does not reach. */
export const start = (args, options) => {
  const child = spawn(node24, [...nodeFlags, ...args], { cwd: root, ...options, detached: true });
  children.add(child);
  child.gone = new Promise((resolve) => {
    const hasGone = (code) => {
      children.delete(child);
      // Jest's workers, and the processes that they started.
      if (child.pid !== undefined) killIfThere(-child.pid);
      resolve(code);
    };
    child.once("error", () => hasGone(undefined));
    // Not 'close': after a disconnected channel it never comes.
    child.once("exit", hasGone);
  });
  if (interruption) end(child);
  return child;
};

/** Waits for the end, and forces it after a time; answers the exit code. */
export const endWithin = async (child, timeoutMs) => {
  const timer = setTimeout(() => {
    report(`given up after ${timeoutMs / 60_000} minutes`);
    end(child);
  }, timeoutMs);
  return await child.gone.finally(() => clearTimeout(timer));
};

const end = (child) => {
  child.kill("SIGTERM");
  const killer = setTimeout(() => killIfThere(-child.pid), killMsMax);
  child.gone.then(() => clearTimeout(killer));
};

const killIfThere = (pid) => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
};

/**
 * Does work whose processes have a directory of its own for temporary files. What they leave there is
 * removed at the end, and what still works there is ended.
 */
export const inOwnDirectory = async (prefix, work) => {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  // If root starts it, Postgres runs as another user, who must be able to enter.
  await chmod(directory, 0o711);
  try {
    return await work({ directory, env: { ...process.env, TMPDIR: directory } });
  } finally {
    await endWhatIsLeft(directory);
  }
};

/** The exit code of this process: the signal that ended it early, or what its work came to. */
export const exitCodeOf = (code) => (interruption ? 128 + constants.signals[interruption] : code);

/**
 * A test that was cut short may leave a database running, in a session of its own. The database
 * works in a folder below ours, or in the one that replaced it; that tells it from everything that
 * is not ours.
 */
const endWhatIsLeft = async (directory) => {
  const homes = [directory, ...(await homesInsteadOf(directory))];
  // Without /proc, such databases stay.
  for (const pid of await readdir("/proc").catch(() => [])) {
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    const isOurs = homes.some((home) => workingDirectory.startsWith(`${home}/`));
    if (isOurs) killIfThere(Number(pid));
  }
  for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 5 });
};

/** Databases that root started, whose own folder the user `postgres` could not enter. */
const homesInsteadOf = async (directory) => {
  const parent = "/var/lib/payment-links";
  const homes = (await readdir(parent).catch(() => [])).map((name) => join(parent, name));
  const askedFor = await Promise.all(
    homes.map((home) => readFile(join(home, "made-for"), "utf8").catch(() => "")),
  );
  return homes.filter((_, index) => askedFor[index].startsWith(`${directory}/`));
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (interruption) return;
    interruption = signal;
    for (const child of children) end(child);
  });
}
