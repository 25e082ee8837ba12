// `npm run test:faults [-- <package or name> ...]`: reintroduces past defects, one at a time, in a
// copy of this work tree, and shows which test catches each of them. A fault is a patch below
// `test/faults`. Prints a line for each fault and the totals. Exits with 1 if a fault is missed or
// a patch does not apply. `--no-verify-clean` skips the check that the named tests pass without a
// fault.
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseArgs, promisify } from "node:util";
import { node24Path, nodeFlags } from "../deploy/node24.mjs";
import {
  getExitCode,
  getInterruptSignal,
  printToStderr,
  startNode,
  waitForExit,
  withTemporaryDirectory,
} from "./children.mjs";
import { readFaults, selectFaults } from "./faults/read-faults.ts";
import { compileCachePath, isCommitTest, listTests, root } from "./jest/jest.mjs";
import { buildConsole, withServers } from "./setup.mjs";
import { findRequiredServers } from "./tiers.mjs";

// A fault can make a test run until it times out.
const fileMsMax = 1_800_000;
const testMsMax = 90_000;
const exitMsMax = 10_000;
const outputBytesMax = 100_000_000;
const errorCharactersMax = 2_000;
const consoleFolder = "packages/console";

const runCommand = promisify(execFile);
const printLine = (line) => process.stdout.write(`${line}\n`);

const main = async (queries, { verifyClean }) => {
  const faults = selectFaults(readFaults(root), queries);
  return await withTemporaryDirectory("payment-links-faults-", async ({ env, directory }) => {
    const serverNames = await findRequiredServers(await listAffectedTests(faults));
    return await withServers({ env }, serverNames, async (serverEnv) => {
      await buildConsole({ env });
      // Jest uses the real paths of files.
      const copy = join(await realpath(directory), "copy");
      await copyWorkTree(copy);
      const { configs, globalConfig } = await readJestJson(copy, "--showConfig");
      const context = { copy, directory, env: await serverEnv, config: configs[0], globalConfig };
      const unusableTests = verifyClean ? await findUnusableTests(context, faults) : new Map();
      const faultConfig = { ...globalConfig, testTimeout: testMsMax };
      return await checkFaults({ ...context, globalConfig: faultConfig }, faults, unusableTests);
    });
  });
};

/** Lists the test files that the faults name, and the test files that import a changed file. */
const listAffectedTests = async (faults) => {
  const modules = faults.flatMap(({ changedFiles }) => changedFiles.filter(isSourceFile));
  const relatedTests =
    modules.length === 0 ? [] : await listTests("--findRelatedTests", ...modules);
  return [...faults.flatMap(({ caughtBy }) => caughtBy), ...relatedTests];
};

/**
 * Runs the Jest CLI in a clone and parses its JSON output. The CLI takes seconds to start, so test
 * files are run without it.
 */
const readJestJson = async (clone, ...args) => {
  const nodeArgs = [...nodeFlags, join(clone, "node_modules/jest/bin/jest.js"), "--rootDir", clone];
  const options = { cwd: clone, maxBuffer: outputBytesMax };
  const { stdout } = await runCommand(node24Path, [...nodeArgs, ...args], options);
  return JSON.parse(stdout);
};

const isSourceFile = (file) => /\.(ts|tsx|mjs|js)$/.test(file);

/**
 * Copies the tracked and untracked files in their current state, without ignored files. Symlinks
 * the installed packages. The symlinks of this repository's own packages are relative, so their
 * copies point into the copy.
 */
const copyWorkTree = async (copy) => {
  const listArgs = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await runCommand("git", listArgs, { cwd: root, maxBuffer: outputBytesMax });
  for (const file of new Set(stdout.split("\0").filter((name) => name !== ""))) {
    // A deleted file can still be in git's index.
    await cp(join(root, file), join(copy, file)).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  await linkPackages(copy);
  await copyBuiltConsole(copy);
};

const linkPackages = async (copy) => {
  const sourceFolder = join(root, "node_modules");
  const copyFolder = join(copy, "node_modules");
  const workspaceScope = "@payment-links";
  await mkdir(join(copyFolder, workspaceScope), { recursive: true });
  for (const name of await readdir(join(sourceFolder, workspaceScope))) {
    const linkTarget = await readlink(join(sourceFolder, workspaceScope, name));
    await symlink(linkTarget, join(copyFolder, workspaceScope, name));
  }
  for (const name of await readdir(sourceFolder)) {
    if (name !== workspaceScope && name !== ".cache") {
      await symlink(join(sourceFolder, name), join(copyFolder, name));
    }
  }
  // Shares only Node's cache, because Jest's cache depends on the files of the clone.
  const cachePath = "node_modules/.cache/node";
  await mkdir(join(root, cachePath), { recursive: true });
  await mkdir(join(copy, dirname(cachePath)), { recursive: true });
  await symlink(join(root, cachePath), join(copy, cachePath));
  for (const group of ["packages", "services"]) {
    for (const name of await readdir(join(root, group))) {
      const folder = join(group, name, "node_modules");
      const hasPackages = (await readdir(join(root, folder)).catch(() => [])).length > 0;
      if (hasPackages) await symlink(join(root, folder), join(copy, folder));
    }
  }
};

/** Restores the console's unchanged build by copying it, which is faster than building it. */
const copyBuiltConsole = (copy) => {
  const builtFolder = join(consoleFolder, "dist");
  return cp(join(root, builtFolder), join(copy, builtFolder), { recursive: true, force: true });
};

/**
 * Runs the named test files without a fault. Returns the reason for each file that fails or skips
 * all its tests.
 */
const findUnusableTests = async (context, faults) => {
  const files = [...new Set(faults.flatMap(({ caughtBy }) => caughtBy))];
  printToStderr(`running ${files.length} test files without a fault`);
  const unusableTests = new Map();
  const pendingFiles = files.values();
  const runPendingFiles = async (workerId) => {
    for (const file of pendingFiles) {
      if (getInterruptSignal()) return;
      const problem = classifyCleanRun(await runTestFile(context, file, workerId));
      if (problem !== undefined) unusableTests.set(file, problem);
    }
  };
  const workerCount = availableParallelism();
  await Promise.all(
    Array.from({ length: workerCount }, (_, index) => runPendingFiles(String(index + 1))),
  );
  return unusableTests;
};

const classifyCleanRun = ({ failed, isLoaded, passedCount }) => {
  if (!isLoaded) return { status: "failed", reason: "cannot be loaded without a fault" };
  if (failed.length > 0) return { status: "failed", reason: `fails without a fault: ${failed[0]}` };
  return passedCount === 0 ? { status: "skipped", reason: "skips all its tests here" } : undefined;
};

const checkFaults = async (context, faults, unusableTests) => {
  const counts = { caught: 0, missed: 0, skipped: 0, failed: 0 };
  for (const fault of faults) {
    const unusableFile = fault.caughtBy.find((file) => unusableTests.has(file));
    const { status, line } =
      unusableFile === undefined
        ? await checkFault(context, fault)
        : describeUnusable(fault.id, unusableFile, unusableTests.get(unusableFile));
    if (getInterruptSignal()) break;
    counts[status] += 1;
    printLine(line);
  }
  return counts;
};

const describeUnusable = (id, file, { status, reason }) => ({
  status,
  line: `${status === "skipped" ? "skipped" : "ERROR"} ${id}: ${file} ${reason}`,
});

const describeError = (id, message) => ({ status: "failed", line: `ERROR ${id}: ${message}` });

const checkFault = async (context, fault) => {
  const { caughtBy, changedFiles, id } = fault;
  const isApplied = await applyPatch(context, fault).then(
    () => true,
    () => false,
  );
  if (!isApplied) return describeError(id, "the patch no longer applies");
  // The console's own tests import its sources. Other tests use its build.
  const needsConsoleBuild = changedFiles.some(isConsoleFile) && !caughtBy.every(isConsoleFile);
  try {
    if (needsConsoleBuild) await buildConsole(context, context.copy);
    return await findDetection(context, fault);
  } catch (error) {
    return describeError(id, error.message);
  } finally {
    await applyPatch(context, fault, "--reverse");
    if (needsConsoleBuild) await copyBuiltConsole(context.copy);
  }
};

const isConsoleFile = (file) => file.startsWith(`${consoleFolder}/`);

const applyPatch = ({ copy, directory, env }, { path }, ...options) =>
  runCommand("git", ["apply", ...options, path], {
    cwd: copy,
    // Prevents git from using a repository that contains the copy.
    env: { ...env, GIT_CEILING_DIRECTORIES: directory },
  });

/**
 * Runs the named test files and then the test files that import a changed file, until one fails.
 */
const findDetection = async (context, { id, caughtBy, changedFiles }) => {
  const failure = await findFirstFailure(context, caughtBy);
  if (failure !== undefined) return { status: "caught", line: describeDetection(id, failure) };
  const relatedTests = await listRelatedTests(context, changedFiles);
  const otherTests = relatedTests.filter(
    (file) => !caughtBy.includes(file) && !digestTests.has(file),
  );
  const otherFailure = await findFirstFailure(context, otherTests);
  if (otherFailure === undefined) return { status: "missed", line: `MISSED ${id}` };
  return {
    status: "caught",
    line: `${describeDetection(id, otherFailure)}; missed by ${caughtBy.join(" ")}`,
  };
};

/**
 * These tests compare file digests. They fail on any change, so a failure does not show that they
 * detect the fault.
 */
const digestTests = new Set(["test/faults.test.ts", "test/pictures.test.ts"]);

/**
 * Lists the test files that import a changed file. Tests that `npm test` runs and tests in the same
 * folder come first.
 */
const listRelatedTests = async ({ copy }, changedFiles) => {
  const changedModules = changedFiles.filter(isSourceFile);
  if (changedModules.length === 0) return [];
  const paths = await readJestJson(
    copy,
    "--listTests",
    "--json",
    "--findRelatedTests",
    ...changedModules,
  );
  const getRank = (file) =>
    (isCommitTest(file) ? 0 : 4) +
    (file.startsWith("test/") ? 2 : 0) +
    (isInChangedFolder(file, changedModules) ? 0 : 1);
  return paths.map((path) => relative(copy, path)).toSorted((a, b) => getRank(a) - getRank(b));
};

const isInChangedFolder = (file, changedModules) =>
  changedModules.some((changedModule) => dirname(changedModule) === dirname(file));

/** Returns the first failed test of the files. Throws if a file cannot be loaded. */
const findFirstFailure = async (context, files) => {
  for (const file of files) {
    if (getInterruptSignal()) return undefined;
    const { failed, isLoaded } = await runTestFile(context, file);
    if (!isLoaded) throw new Error(`${file} cannot be loaded with the fault`);
    if (failed.length > 0) return { file, title: failed[0] };
  }
  return undefined;
};

const describeDetection = (id, { file, title }) =>
  `caught ${id} by ${file}: ${title} (${isCommitTest(file) ? "npm test" : "only npm run test:all"})`;

/** Runs a test file of the copy in a separate process, as our Jest runner does. */
const runTestFile = async ({ config, copy, env, globalConfig }, file, workerId = "1") => {
  const child = startNode([join(copy, "test/jest/run-file.mjs")], {
    cwd: copy,
    env: { ...env, NODE_COMPILE_CACHE: compileCachePath, JEST_WORKER_ID: workerId },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let reply;
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-errorCharactersMax);
  });
  child.once("message", (message) => {
    reply = message;
    child.send("end", () => undefined);
    // The child exits immediately, unless a system call hangs.
    const killTimer = setTimeout(() => child.kill("SIGKILL"), exitMsMax);
    child.exited.then(() => clearTimeout(killTimer));
  });
  child.send({ globalConfig, config, path: join(copy, file) }, () => undefined);
  await waitForExit(child, fileMsMax);
  const { result, error } = reply ?? {};
  if (result === undefined) {
    const exitReason = child.signalCode ?? child.exitCode;
    printToStderr(`${file} returned no result (${exitReason}): ${error?.stack ?? errors}`);
    return { failed: [], isLoaded: false, passedCount: 0 };
  }
  const listTestsByStatus = (status) => result.testResults.filter((test) => test.status === status);
  const failed = listTestsByStatus("failed").map(({ fullName }) => fullName);
  // If an error occurs outside of all tests, for example a missing import, no test is reported as
  // failed.
  const isLoaded = failed.length > 0 || !result.testExecError;
  return { failed, isLoaded, passedCount: listTestsByStatus("passed").length };
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { "verify-clean": { type: "boolean", default: true } },
});
try {
  const counts = await main(positionals, { verifyClean: values["verify-clean"] });
  const reportedStatuses = ["skipped", "failed"].filter((status) => counts[status] > 0);
  for (const status of reportedStatuses) printLine(`${counts[status]} ${status}`);
  printLine(`${counts.caught} caught, ${counts.missed} missed`);
  process.exitCode = getExitCode(counts.missed + counts.failed > 0 ? 1 : 0);
} catch (error) {
  if (!getInterruptSignal()) printToStderr(error instanceof Error ? error.message : String(error));
  process.exitCode = getExitCode(1);
}
