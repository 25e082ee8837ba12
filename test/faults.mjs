// `npm run test:faults [-- <room or name> ...]`: brings past defects back, one at a time, in a copy of
// this work tree, and shows which test catches each. A fault is a patch below `test/faults`. Prints a
// line for each fault and the counts; exits with 1 if a test misses a fault or a patch does not apply.
// `--no-verify-clean` skips the proof that the named tests pass without a fault.
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseArgs, promisify } from "node:util";
import { node24, nodeFlags } from "../deploy/node24.mjs";
import {
  endWithin,
  exitCodeOf,
  inOwnDirectory,
  interruptedBy,
  report,
  start,
} from "./children.mjs";
import { readFaults, selectFaults } from "./faults/read-faults.ts";
import { compileCache, isCommitTest, listTests, root } from "./jest/jest.mjs";
import { buildConsole, withServers } from "./setup.mjs";
import { findServers } from "./tiers.mjs";

// A fault can make a test wait for its own time limit.
const fileMsMax = 1_800_000;
const testMsMax = 90_000;
const exitMsMax = 10_000;
const listBytesMax = 100_000_000;
const errorCharactersMax = 2_000;
const consoleFolder = "packages/console";

const run = promisify(execFile);
const print = (line) => process.stdout.write(`${line}\n`);

const main = async (words, { verifyClean }) => {
  const faults = selectFaults(readFaults(root), words);
  return await inOwnDirectory("payment-links-faults-", async ({ env, directory }) => {
    const names = await findServers(await listConcernedTests(faults));
    return await withServers({ env }, names, async (servers) => {
      await buildConsole({ env });
      // Jest names files by their real paths.
      const copy = join(await realpath(directory), "copy");
      await copyWorkTree(copy);
      const { configs, globalConfig } = await askJest(copy, "--showConfig");
      const context = { copy, directory, env: await servers, config: configs[0], globalConfig };
      const unusable = verifyClean ? await findUnusableTests(context, faults) : new Map();
      const impatient = { ...globalConfig, testTimeout: testMsMax };
      return await playAll({ ...context, globalConfig: impatient }, faults, unusable);
    });
  });
};

/** Every test file that a fault names or that may use a changed file. */
const listConcernedTests = async (faults) => {
  const modules = faults.flatMap(({ changedFiles }) => changedFiles.filter(isModule));
  const related = modules.length === 0 ? [] : await listTests("--findRelatedTests", ...modules);
  return [...faults.flatMap(({ caughtBy }) => caughtBy), ...related];
};

/** Asks Jest in a clone for what it prints as JSON; a run of Jest per test file would cost seconds. */
const askJest = async (clone, ...args) => {
  const argv = [...nodeFlags, join(clone, "node_modules/jest/bin/jest.js"), "--rootDir", clone];
  const options = { cwd: clone, maxBuffer: listBytesMax };
  const { stdout } = await run(node24, [...argv, ...args], options);
  return JSON.parse(stdout);
};

const isModule = (file) => /\.(ts|tsx|mjs|js)$/.test(file);

/**
 * Copies the files that git knows or would add, as they are now. Links installed packages, except
 * those of this repository: their relative links lead to the copy's own sources.
 */
const copyWorkTree = async (copy) => {
  const listArgs = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await run("git", listArgs, { cwd: root, maxBuffer: listBytesMax });
  for (const file of new Set(stdout.split("\0").filter((name) => name !== ""))) {
    // A deleted file is still in the index.
    await cp(join(root, file), join(copy, file)).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  await linkPackages(copy);
  await copyConsole(copy);
};

const linkPackages = async (copy) => {
  const from = join(root, "node_modules");
  const to = join(copy, "node_modules");
  const ours = "@payment-links";
  await mkdir(join(to, ours), { recursive: true });
  for (const name of await readdir(join(from, ours))) {
    await symlink(await readlink(join(from, ours, name)), join(to, ours, name));
  }
  for (const name of await readdir(from)) {
    if (name !== ours && name !== ".cache") await symlink(join(from, name), join(to, name));
  }
  // Jest caches what it knows of a clone, so only Node's cache is shared.
  const cache = "node_modules/.cache/node";
  await mkdir(join(root, cache), { recursive: true });
  await mkdir(join(copy, dirname(cache)), { recursive: true });
  await symlink(join(root, cache), join(copy, cache));
  for (const group of ["packages", "services"]) {
    for (const name of await readdir(join(root, group))) {
      const folder = join(group, name, "node_modules");
      const isThere = (await readdir(join(root, folder)).catch(() => [])).length > 0;
      if (isThere) await symlink(join(root, folder), join(copy, folder));
    }
  }
};

/** Brings the console back as it is built here, which takes less time than a build. */
const copyConsole = (copy) => {
  const built = join(consoleFolder, "dist");
  return cp(join(root, built), join(copy, built), { recursive: true, force: true });
};

/** Runs the named test files without a fault; maps each that can catch nothing to its outcome. */
const findUnusableTests = async (context, faults) => {
  const files = [...new Set(faults.flatMap(({ caughtBy }) => caughtBy))];
  report(`without a fault: ${files.length} test files`);
  const unusable = new Map();
  const waiting = files.values();
  const work = async (workerId) => {
    for (const file of waiting) {
      if (interruptedBy()) return;
      const outcome = judgeClean(await runTest(context, file, workerId));
      if (outcome !== undefined) unusable.set(file, outcome);
    }
  };
  const workerCount = availableParallelism();
  await Promise.all(Array.from({ length: workerCount }, (_, index) => work(String(index + 1))));
  return unusable;
};

const judgeClean = ({ failed, isLoaded, passedCount }) => {
  if (!isLoaded) return { kind: "failed", reason: "does not load without a fault" };
  if (failed.length > 0) return { kind: "failed", reason: `fails without a fault: ${failed[0]}` };
  return passedCount === 0 ? { kind: "skipped", reason: "skips all its tests here" } : undefined;
};

const playAll = async (context, faults, unusable) => {
  const counts = { caught: 0, missed: 0, skipped: 0, failed: 0 };
  for (const fault of faults) {
    const file = fault.caughtBy.find((one) => unusable.has(one));
    const { kind, line } =
      file === undefined
        ? await play(context, fault)
        : describeUnusable(fault.id, file, unusable.get(file));
    if (interruptedBy()) break;
    counts[kind] += 1;
    print(line);
  }
  return counts;
};

const describeUnusable = (id, file, { kind, reason }) => ({
  kind,
  line: `${kind === "skipped" ? "skipped" : "ERROR"} ${id}: ${file} ${reason}`,
});

const describeError = (id, message) => ({ kind: "failed", line: `ERROR ${id}: ${message}` });

const play = async (context, fault) => {
  const { caughtBy, changedFiles, id } = fault;
  const isApplied = await applyPatch(context, fault).then(
    () => true,
    () => false,
  );
  if (!isApplied) return describeError(id, "the patch no longer applies");
  // Its own tests import its sources.
  const mustBuild = changedFiles.some(isOfConsole) && !caughtBy.every(isOfConsole);
  try {
    if (mustBuild) await buildConsole(context, context.copy);
    return await findCatch(context, fault);
  } catch (error) {
    return describeError(id, error.message);
  } finally {
    await applyPatch(context, fault, "--reverse");
    if (mustBuild) await copyConsole(context.copy);
  }
};

const isOfConsole = (file) => file.startsWith(`${consoleFolder}/`);

const applyPatch = ({ copy, directory, env }, { path }, ...options) =>
  run("git", ["apply", ...options, path], {
    cwd: copy,
    // Git must not take a repository around the copy for the copy's own.
    env: { ...env, GIT_CEILING_DIRECTORIES: directory },
  });

/** Runs the named test files, then those that import what has changed, until one fails. */
const findCatch = async (context, { id, caughtBy, changedFiles }) => {
  const caught = await findFailure(context, caughtBy);
  if (caught !== undefined) return { kind: "caught", line: describeCatch(id, caught) };
  const related = await listRelated(context, changedFiles);
  const others = related.filter((file) => !caughtBy.includes(file) && !digestTests.has(file));
  const found = await findFailure(context, others);
  if (found === undefined) return { kind: "missed", line: `MISSED ${id}` };
  return { kind: "caught", line: `${describeCatch(id, found)}; ${caughtBy.join(" ")} misses it` };
};

/** They fail at any change of the files that they compare, so they prove nothing. */
const digestTests = new Set(["test/faults.test.ts", "test/pictures.test.ts"]);

/** The test files that import a changed file, those of the quick run and of its own folder first. */
const listRelated = async ({ copy }, changedFiles) => {
  const modules = changedFiles.filter(isModule);
  if (modules.length === 0) return [];
  const paths = await askJest(copy, "--listTests", "--json", "--findRelatedTests", ...modules);
  const cost = (file) =>
    (isCommitTest(file) ? 0 : 4) +
    (file.startsWith("test/") ? 2 : 0) +
    (isNear(file, modules) ? 0 : 1);
  return paths
    .map((path) => relative(copy, path))
    .toSorted((one, other) => cost(one) - cost(other));
};

const isNear = (file, modules) => modules.some((module) => dirname(module) === dirname(file));

/** The first failed test of some files; throws if one does not load. */
const findFailure = async (context, files) => {
  for (const file of files) {
    if (interruptedBy()) return undefined;
    const { failed, isLoaded } = await runTest(context, file);
    if (!isLoaded) throw new Error(`${file} does not load with it`);
    if (failed.length > 0) return { file, title: failed[0] };
  }
  return undefined;
};

const describeCatch = (id, { file, title }) =>
  `caught ${id} by ${file}: ${title} (${isCommitTest(file) ? "npm test" : "only npm run test:all"})`;

/** Runs one test file in the copy, in a process of its own as Jest's runner does. */
const runTest = async ({ config, copy, env, globalConfig }, file, workerId = "1") => {
  const child = start([join(copy, "test/jest/run-file.mjs")], {
    cwd: copy,
    env: { ...env, NODE_COMPILE_CACHE: compileCache, JEST_WORKER_ID: workerId },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let answer;
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-errorCharactersMax);
  });
  child.once("message", (message) => {
    answer = message;
    child.send("end", () => undefined);
    // It ends at once, unless a call into the system does not return.
    const killer = setTimeout(() => child.kill("SIGKILL"), exitMsMax);
    child.gone.then(() => clearTimeout(killer));
  });
  child.send({ globalConfig, config, path: join(copy, file) }, () => undefined);
  await endWithin(child, fileMsMax);
  const { result, error } = answer ?? {};
  if (result === undefined) {
    const end = child.signalCode ?? child.exitCode;
    report(`${file} gave no result (${end}): ${error?.stack ?? errors}`);
    return { failed: [], isLoaded: false, passedCount: 0 };
  }
  const withStatus = (status) => result.testResults.filter((test) => test.status === status);
  const failed = withStatus("failed").map(({ fullName }) => fullName);
  // An error outside of every test, as of a missing import, leaves no failed test.
  const isLoaded = failed.length > 0 || !result.testExecError;
  return { failed, isLoaded, passedCount: withStatus("passed").length };
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { "verify-clean": { type: "boolean", default: true } },
});
try {
  const counts = await main(positionals, { verifyClean: values["verify-clean"] });
  const others = ["skipped", "failed"].filter((kind) => counts[kind] > 0);
  for (const kind of others) print(`${counts[kind]} ${kind}`);
  print(`${counts.caught} caught, ${counts.missed} missed`);
  process.exitCode = exitCodeOf(counts.missed + counts.failed > 0 ? 1 : 0);
} catch (error) {
  if (!interruptedBy()) report(error instanceof Error ? error.message : String(error));
  process.exitCode = exitCodeOf(1);
}
