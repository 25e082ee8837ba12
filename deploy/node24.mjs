// The first step of every npm script. It is plain JavaScript, because it must run on Node 20 or later.
// It installs missing dependencies, including Node 24, and then runs the command on Node 24.
import { execFileSync, spawn } from "node:child_process";
import { mkdir, open, readFile, realpath, rm, stat } from "node:fs/promises";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hasDevPackages, hasRequiredPackages, listPackagesToInstall } from "./package-sets.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The path of the Node 24 executable, which may not be installed yet. */
export const node24Path = join(root, "node_modules", ".bin", "node");
const installLockPath = join(root, "node_modules", ".payment-links-installing");

const nodeMajorMin = 20;
const lockHeartbeatMs = 1_000;
const lockStaleMs = 15_000;
const lockWaitMsMax = 600_000;
const progressIntervalMs = 5_000;

/** Hides warnings about type stripping, and about the negative timeouts that kafkajs sets. */
export const nodeFlags = [
  "--disable-warning=ExperimentalWarning",
  "--disable-warning=TimeoutNegativeWarning",
];

/**
 * Installs missing dependencies, runs a script on Node 24, and exits with its exit code. Progress goes
 * to stderr, because stdout belongs to the script.
 * @param {string} scriptPath relative to the repository root
 * @param {readonly string[]} args
 * @param {{ withDev?: boolean }} [options]
 */
export const runOnNode24 = async (scriptPath, args, options) => {
  try {
    await ensureDependencies(options);
  } catch (error) {
    printToStderr(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
  const nodeArgs = [...nodeFlags, resolve(root, scriptPath), ...args];
  // If Node supports it, replaces this process, so that signals reach the script directly.
  if (process.execve) process.execve(node24Path, [node24Path, ...nodeArgs], process.env);
  const { code, signal } = await runChild(node24Path, nodeArgs, { stdio: "inherit" });
  process.exit(code ?? 128 + constants.signals[signal]);
};

/**
 * Installs the packages of the lockfile that are missing in node_modules; throws if that fails.
 * Without `withDev`, it does not install devDependencies, but keeps those that are installed.
 * @param {{ withDev?: boolean }} [options]
 */
export const ensureDependencies = async ({ withDev = true } = {}) => {
  if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
    throw new Error(`Node ${nodeMajorMin} or later is required; this is ${process.version}`);
  }
  if (await hasInstalledDependencies({ withDev })) return;
  await mkdir(join(root, "node_modules"), { recursive: true });
  const releaseLock = await acquireInstallLock();
  try {
    // Another process may have installed the packages while this one waited for the lock.
    if (!(await hasInstalledDependencies({ withDev }))) await installDependencies({ withDev });
  } finally {
    await releaseLock();
  }
};

/** Returns true if node_modules contains all required packages and a working Node 24. */
const hasInstalledDependencies = async ({ withDev }) => {
  try {
    const lockedPackages = await readLockedPackages();
    const installedPackages = await readInstalledPackages();
    if (!hasRequiredPackages(lockedPackages, installedPackages, { withDev })) return false;
    if ((await realpath(node24Path)) === process.execPath) return true;
    return execFileSync(node24Path, ["--version"], { encoding: "utf8" }).startsWith("v24.");
  } catch {
    return false;
  }
};

const readPackageEntries = async (path) =>
  JSON.parse(await readFile(join(root, path), "utf8")).packages;
const readLockedPackages = () => readPackageEntries("package-lock.json");

/** Reads npm's list of installed packages, which npm writes at the end of an install. */
const readInstalledPackages = () =>
  readPackageEntries("node_modules/.package-lock.json").catch(() => ({}));

const installDependencies = async (options) => {
  const startedAt = performance.now();
  const formatElapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const lockedPackages = await readLockedPackages();
  const installedPackages = await readInstalledPackages();
  const withDev = options.withDev || hasDevPackages(installedPackages);
  const description = withDev ? "the packages and development tools" : "the packages for npm start";
  printToStderr(`installing ${description}`);
  const reportProgress = () => printToStderr(`installing ${description} (${formatElapsed()})`);
  const progressTimer = setInterval(reportProgress, progressIntervalMs);
  const incompletePaths = listPackagesToInstall(lockedPackages, installedPackages).map((path) =>
    join(root, path),
  );
  for (const path of incompletePaths) await rm(path, { recursive: true, force: true });
  // `npm ci` would require packages for other platforms, which a registry may not serve.
  // The explicit --include or --omit overrides NODE_ENV.
  const args = ["install", "--no-save", "--no-audit", "--no-fund"];
  args.push(withDev ? "--include=dev" : "--omit=dev", "--loglevel=error", "--no-progress");
  // npm may replace the Node in node_modules, so it must not run on it. PATH therefore excludes
  // node_modules.
  const pathFolders = (process.env.PATH ?? "").split(delimiter);
  const PATH = pathFolders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
  const spawnOptions = { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", 2, 2] };
  // --prefer-offline saves one of two registry requests per package. The second attempt omits it, because
  // cached metadata can be older than the version in the lockfile.
  let npmExit;
  try {
    npmExit = await runChild("npm", [...args, "--prefer-offline"], spawnOptions);
    if (npmExit.code !== 0 && npmExit.signal === null) {
      npmExit = await runChild("npm", args, spawnOptions);
    }
  } finally {
    clearInterval(progressTimer);
  }
  if (npmExit.code !== 0) throw new Error(`npm install failed (${npmExit.signal ?? npmExit.code})`);
  if (!(await hasInstalledDependencies({ withDev }))) {
    throw new Error(
      "npm install succeeded, but node_modules is incomplete: enable install scripts if they are disabled " +
        "(npm config get ignore-scripts); otherwise, remove node_modules and try again",
    );
  }
  // Removes 70 MB of C++ headers that are never used. The executable has a hard link elsewhere.
  await rm(join(root, "node_modules/node/node_modules"), { recursive: true, force: true });
  printToStderr(`installed ${description} (${formatElapsed()})`);
};

/**
 * Waits for the lock that prevents concurrent installs into this clone, and returns a function that
 * releases it. The owner updates the lock file's modification time, so an old time shows that the owner
 * was killed. The lock does not rely on a process id, because the system could have reused it.
 */
const acquireInstallLock = async () => {
  const deadline = performance.now() + lockWaitMsMax;
  for (let attempt = 1; performance.now() < deadline; attempt += 1) {
    const lockFile = await open(installLockPath, "wx").catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    if (lockFile) {
      const refreshLock = () => lockFile.utimes(new Date(), new Date()).catch(() => undefined);
      const heartbeat = setInterval(refreshLock, lockHeartbeatMs);
      return async () => {
        clearInterval(heartbeat);
        await lockFile.close();
        await rm(installLockPath, { force: true });
      };
    }
    if (attempt === 1) {
      printToStderr("another process is installing the dependencies, waiting for it");
    }
    const lockStat = await stat(installLockPath).catch(() => undefined);
    const isStale = lockStat && Date.now() - lockStat.mtimeMs > lockStaleMs;
    if (isStale) await rm(installLockPath, { force: true });
    await sleep(lockHeartbeatMs);
  }
  throw new Error(
    `timed out waiting for another process to install; if none is running, delete ${installLockPath}`,
  );
};

/**
 * Runs a child process and forwards termination signals to it. The terminal also sends Ctrl-C to the
 * child directly, so the child can receive it twice, as with npm.
 */
const runChild = async (command, args, options) => {
  const child = spawn(command, args, options);
  const forwardSignal = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forwardSignal);
  try {
    return await new Promise((resolveExit, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolveExit({ code, signal }));
    });
  } finally {
    for (const signal of signals) process.removeListener(signal, forwardSignal);
  }
};

const printToStderr = (line) => process.stderr.write(`${line}\n`);
