// `npm test [-- <path patterns>]`: everything that can be proven, on a fresh clone too. Installs what
// is missing, starts real servers, checks the code, runs the tests; the last line counts.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, readdir, readlink, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ensureInstalled, node24, nodeFlags } from "../deploy/node24.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const checkMsMax = 300_000;
const jestMsMax = 1_500_000;
const killMsMax = 20_000;

/** What a signal, or a limit of time, has to end. */
const children = new Set();
let interruptedBy;

const main = async (patterns) => {
  await ensureInstalled();
  // The run's own directory for temporary files: what a test leaves behind goes with it.
  const directory = await mkdtemp(join(tmpdir(), "payment-links-run-"));
  await chmod(directory, 0o711);
  const env = { ...process.env, TMPDIR: directory };
  const servers = startServers(env);
  try {
    // Both at once: Maven may be fetching for a while. A part of the tests is asked for by somebody
    // in the middle of a change, whose code need not be tidy yet.
    const isGood = patterns.length > 0 || (await check(env));
    const counts = await runJest(patterns, { ...env, ...(await servers.urls) }, directory);
    return { passed: counts.passed, failed: counts.failed + (isGood ? 0 : 1) };
  } finally {
    await servers.stop();
    await endWhatIsLeft(directory);
  }
};

/** The servers' process lets them go when we let go of it, also when we are killed. */
const startServers = (env) => {
  const child = start([join(root, "test/servers/main.ts")], {
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const urls = new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.gone.then(() => reject(new Error("the servers for the tests did not start")));
  });
  // Whoever waits for it hears of it; until then it is nobody's.
  urls.catch(() => undefined);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await child.gone;
  };
  return { urls, stop };
};

const check = async (env) => {
  const script = join(root, "test/check.mjs");
  if (!existsSync(script)) return true;
  const child = start([script], { env, stdio: ["ignore", "inherit", "inherit"] });
  return (await endWithin(child, checkMsMax)) === 0;
};

const runJest = async (patterns, env, directory) => {
  const outputFile = join(directory, "jest.json");
  const jest = join(root, "node_modules/jest/bin/jest.js");
  const args = [jest, "--rootDir", root, "--json"];
  const child = start([...args, `--outputFile=${outputFile}`, ...patterns], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await endWithin(child, jestMsMax);
  const results = await readFile(outputFile, "utf8").catch(() => undefined);
  if (results === undefined) throw new Error("jest ended without a result");
  const { passed, failed } = count(JSON.parse(results));
  // Jest has reasons of its own to be dissatisfied, and so have those who end it.
  return { passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed };
};

const count = ({ numPassedTests, numFailedTests, testResults }) => {
  // A file that cannot be loaded has failed, although none of its tests has.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length };
};

/** Starts Node 24 as the head of a process group, which a terminal's Ctrl-C does not reach. */
const start = (args, options) => {
  const child = spawn(node24, [...nodeFlags, ...args], { ...options, cwd: root, detached: true });
  children.add(child);
  child.gone = new Promise((resolve) => {
    const hasGone = (code) => {
      children.delete(child);
      // Jest's workers, and what they started in turn.
      if (child.pid !== undefined) killIfThere(-child.pid);
      resolve(code);
    };
    child.once("error", () => hasGone(undefined));
    // Not 'close': after a disconnected channel it never comes.
    child.once("exit", hasGone);
  });
  if (interruptedBy) end(child);
  return child;
};

const endWithin = async (child, timeoutMs) => {
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
 * A test that was cut short may leave a database running, in a session of its own. It works below
 * our directory, or below the one it was given instead, which tells it from all that is not ours.
 */
const endWhatIsLeft = async (directory) => {
  const homes = [directory, ...(await homesInsteadOf(directory))];
  // Where there is no /proc, they stay.
  for (const pid of await readdir("/proc").catch(() => [])) {
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    const isOurs = homes.some((home) => workingDirectory.startsWith(`${home}/`));
    if (isOurs) killIfThere(Number(pid));
  }
  for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 5 });
};

/** Root's databases whose own place the user `postgres` could not enter. */
const homesInsteadOf = async (directory) => {
  const parent = "/var/lib/payment-links";
  const homes = (await readdir(parent).catch(() => [])).map((name) => join(parent, name));
  const askedFor = await Promise.all(
    homes.map((home) => readFile(join(home, "made-for"), "utf8").catch(() => "")),
  );
  return homes.filter((_, index) => askedFor[index].startsWith(`${directory}/`));
};

const report = (line) => process.stderr.write(`${line}\n`);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (interruptedBy) return;
    interruptedBy = signal;
    for (const child of children) end(child);
  });
}

const { passed, failed } = await main(process.argv.slice(2)).catch((error) => {
  if (!interruptedBy) report(error instanceof Error ? error.message : String(error));
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = interruptedBy ? 128 + constants.signals[interruptedBy] : Math.min(failed, 1);
