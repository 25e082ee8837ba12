// The first step of every command, in plain JavaScript for whatever Node (20 or newer) is there:
// it sees to the dependencies, of which Node 24 is one, and hands over to that.
import { execFileSync, spawn } from "node:child_process";
import { mkdir, open, readFile, realpath, rm, stat } from "node:fs/promises";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hasDevPackages, hasPackages, listUnfinished } from "./package-sets.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Node 24 itself, once installed. */
export const node24 = join(root, "node_modules", ".bin", "node");
const installLock = join(root, "node_modules", ".payment-links-installing");

const nodeMajorMin = 20;
const lockBeatMs = 1_000;
const lockStaleMs = 15_000;
const lockWaitMsMax = 600_000;
const progressMs = 5_000;

/** Type stripping is what we run on, and kafkajs sets a negative timer at every connection. */
export const nodeFlags = [
  "--disable-warning=ExperimentalWarning",
  "--disable-warning=TimeoutNegativeWarning",
];

/**
 * Runs a script of this clone (its path from the root) with Node 24, after installing what is
 * missing, and ends this process as that one ends. Progress goes to stderr: stdout is the script's.
 * @param {string} script
 * @param {readonly string[]} args
 * @param {{ withDev?: boolean }} [set]
 */
export const runOnNode24 = async (script, args, set) => {
  try {
    await ensureInstalled(set);
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
  const argv = [...nodeFlags, resolve(root, script), ...args];
  // In our place rather than below us, where this Node can do that: one process to signal and kill.
  if (process.execve) process.execve(node24, [node24, ...argv], process.env);
  const { code, signal } = await runChild(node24, argv, { stdio: "inherit" });
  process.exit(code ?? 128 + constants.signals[signal]);
};

/**
 * Installs what the committed lockfile names and node_modules lacks; throws if that cannot be. Without
 * `withDev`, devDependencies may be missing, but none is removed.
 * @param {{ withDev?: boolean }} [set]
 */
export const ensureInstalled = async ({ withDev = true } = {}) => {
  if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
    throw new Error(`Node ${nodeMajorMin} or newer is needed to begin; this is ${process.version}`);
  }
  if (await isInstalled({ withDev })) return;
  await mkdir(join(root, "node_modules"), { recursive: true });
  const release = await takeInstallLock();
  try {
    // Another process may have done it while we waited.
    if (!(await isInstalled({ withDev }))) await install({ withDev });
  } finally {
    await release();
  }
};

/** True if node_modules holds every needed package of the lockfile, and a Node 24 that runs. */
const isInstalled = async ({ withDev }) => {
  try {
    if (!hasPackages(await readLocked(), await readInstalled(), { withDev })) return false;
    if ((await realpath(node24)) === process.execPath) return true;
    return execFileSync(node24, ["--version"], { encoding: "utf8" }).startsWith("v24.");
  } catch {
    return false;
  }
};

const readPackages = async (path) => JSON.parse(await readFile(join(root, path), "utf8")).packages;
const readLocked = () => readPackages("package-lock.json");

/** npm's record of what it put into node_modules, written at the end of an install. */
const readInstalled = () => readPackages("node_modules/.package-lock.json").catch(() => ({}));

const install = async (wanted) => {
  const startedAt = performance.now();
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const locked = await readLocked();
  const installed = await readInstalled();
  const withDev = wanted.withDev || hasDevPackages(installed);
  const what = withDev ? "the packages and development tools" : "the packages that npm start runs";
  report(`installing ${what}, this once`);
  const tell = () => report(`installing ${what} (${elapsed()})`);
  const ticker = setInterval(tell, progressMs);
  const unfinished = listUnfinished(locked, installed).map((path) => join(root, path));
  for (const path of unfinished) await rm(path, { recursive: true, force: true });
  // Not `npm ci`: it insists on entries for platforms whose packages a registry may not serve.
  // The set is named either way, whatever NODE_ENV says.
  const args = ["install", "--no-save", "--no-audit", "--no-fund"];
  args.push(withDev ? "--include=dev" : "--omit=dev", "--loglevel=error", "--no-progress");
  // npm must not run on the very Node that it is about to replace.
  const folders = (process.env.PATH ?? "").split(delimiter);
  const PATH = folders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
  const options = { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", 2, 2] };
  // npm's cache first: without it npm asks a registry twice for each package. What npm kept of a
  // package may be older than the version that the lockfile names.
  let ended;
  try {
    ended = await runChild("npm", [...args, "--prefer-offline"], options);
    if (ended.code !== 0 && ended.signal === null) ended = await runChild("npm", args, options);
  } finally {
    clearInterval(ticker);
  }
  if (ended.code !== 0) throw new Error(`npm install failed (${ended.signal ?? ended.code})`);
  if (!(await isInstalled({ withDev }))) {
    throw new Error(
      "npm install went well, yet node_modules is not complete: are install scripts switched off " +
        "(npm config get ignore-scripts)? If not, remove node_modules and start again",
    );
  }
  // The C++ headers of Node, 70 MB that nothing here compiles with; its program is a link outside.
  await rm(join(root, "node_modules/node/node_modules"), { recursive: true, force: true });
  report(`installed ${what} (${elapsed()})`);
};

/**
 * One install at a time in one clone. The holder keeps the file young, so that a killed one's is
 * known by its age, whatever has become of its process id.
 */
const takeInstallLock = async () => {
  const deadline = performance.now() + lockWaitMsMax;
  for (let tries = 1; performance.now() < deadline; tries += 1) {
    const file = await open(installLock, "wx").catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    if (file) {
      const young = () => file.utimes(new Date(), new Date()).catch(() => undefined);
      const beat = setInterval(young, lockBeatMs);
      return async () => {
        clearInterval(beat);
        await file.close();
        await rm(installLock, { force: true });
      };
    }
    if (tries === 1) report("another process is installing the dependencies: waiting for it");
    const held = await stat(installLock).catch(() => undefined);
    if (held && Date.now() - held.mtimeMs > lockStaleMs) await rm(installLock, { force: true });
    await sleep(lockBeatMs);
  }
  throw new Error(
    `another process has been installing for too long; if none is, rm ${installLock}`,
  );
};

/**
 * Runs a child and hands on what we are told to end with. A terminal tells the child by itself as
 * well, so it may hear of one Ctrl-C twice, as it does below npm.
 */
const runChild = async (command, args, options) => {
  const child = spawn(command, args, options);
  const handOn = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, handOn);
  try {
    return await new Promise((resolveEnd, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolveEnd({ code, signal }));
    });
  } finally {
    for (const signal of signals) process.removeListener(signal, handOn);
  }
};

const report = (line) => process.stderr.write(`${line}\n`);
