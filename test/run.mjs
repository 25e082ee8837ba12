// Runs the tests. The last line of output has the counts.
// - `npm test` installs missing packages, starts real servers, checks the code and runs all tests
//   except the soak tests (`*.soak.test.ts`). It works on a fresh clone.
// - `npm run test:all` also runs the soak tests.
// - `npm test -- <path patterns>` runs the tests of these paths, including soak tests, and starts
//   only the servers that they need. Soak cases within other files need `TEST_ALL=1`.
// - `npm run test:quick` runs the tests that the changes since `main` can affect, if they need no
//   server or only Postgres.
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listChangedTests } from "./changed.mjs";
import {
  getExitCode,
  getInterruptSignal,
  printToStderr,
  startNode,
  waitForExit,
  withTemporaryDirectory,
} from "./children.mjs";
import {
  buildJestArgs,
  commitTestArgs,
  compileCachePath,
  countResults,
  formatCounts,
  listTests,
  root,
} from "./jest/jest.mjs";
import { buildConsole, withServers } from "./setup.mjs";
import {
  findRequiredServers,
  listPostgresTests,
  listTestsWithoutServers,
  servers as allServers,
} from "./tiers.mjs";

// Timeouts for runs that hang. They are long enough for a machine at a third of the usual speed.
// Soak tests take an hour on an idle machine.
const checkMsMax = 900_000;
const jestMsMax = 4_200_000;
const soakMsMax = 10_800_000;

const main = async (args) => {
  return await withTemporaryDirectory("payment-links-run-", async ({ env, directory }) => {
    const context = { env: { ...env, NODE_COMPILE_CACHE: compileCachePath }, directory };
    if (args[0] === "--quick") return await runQuickTests(context);
    if (args[0] === "--all") {
      return await runAllTests({ ...context, env: { ...context.env, TEST_ALL: "1" } }, []);
    }
    return args.length === 0
      ? await runAllTests(context, commitTestArgs)
      : await runSelectedTests(context, args);
  });
};

/**
 * Runs the static checks and the tests that Jest's arguments select. Both run in parallel, because
 * tests spend most of their time waiting.
 */
const runAllTests = (context, args) =>
  withServers(context, Object.keys(allServers), async (envPromise) => {
    await buildConsole(context);
    const [hasPassedCheck, counts] = await Promise.all([
      runCheck(context.env),
      envPromise.then((env) => runJest(env, args, context.directory)),
    ]);
    return { ...counts, failed: counts.failed + (hasPassedCheck ? 0 : 1) };
  });

/**
 * Runs the selected tests without the static checks, because the code can be unfinished in the
 * middle of a change.
 */
const runSelectedTests = async (context, args) => {
  const serverNames = await findRequiredServers(await listTests(...args));
  return await withServers(context, serverNames, async (envPromise) => {
    await buildConsole(context);
    return runJest(await envPromise, args, context.directory);
  });
};

const runQuickTests = async (context) => {
  const tests = await listQuickTests();
  if (tests.length === 0) return { passed: 0, failed: 0, skippedByReason: {} };
  return await withServers(context, await findRequiredServers(tests), async (envPromise) => {
    await buildConsole(context);
    return await runJest(await envPromise, ["--runTestsByPath", ...tests], context.directory);
  });
};

/** A quick run includes at most this many tests that need Postgres. */
const nearestTestsMax = 6;

/**
 * Lists the tests that the changes can affect. Includes only the nearest of the tests that need
 * Postgres.
 */
const listQuickTests = async () => {
  const [changed, testsWithoutServers, postgresTests] = [
    await listChangedTests(),
    await listTestsWithoutServers(),
    await listPostgresTests(),
  ];
  if (changed.reason !== undefined) {
    printToStderr(`${changed.reason}: running all tests that need no server or only Postgres`);
    return [...testsWithoutServers, ...postgresTests];
  }
  const affectedTests = new Set(changed.tests);
  const affectedWithoutServers = testsWithoutServers.filter((test) => affectedTests.has(test));
  const affectedPostgres = postgresTests.filter((test) => affectedTests.has(test));
  const nearestPostgres = await listNearestTests(affectedPostgres, changed.files);
  const omittedCount = affectedPostgres.length - nearestPostgres.length;
  printToStderr(
    `test files without a server: ${affectedWithoutServers.length}; with Postgres: ${nearestPostgres.length}, ${omittedCount} omitted`,
  );
  return [...affectedWithoutServers, ...nearestPostgres];
};

/**
 * Lists the tests in a changed file's workspace. Tests that share the most folders with the file
 * come first, and then the smallest tests.
 */
const listNearestTests = async (tests, changedFiles) => {
  const candidates = await Promise.all(
    tests.map(async (test) => ({
      test,
      sharedFolderCount: Math.max(
        ...changedFiles.map((changedFile) => countSharedFolders(test, changedFile)),
      ),
      size: (await stat(join(root, test))).size,
    })),
  );
  return candidates
    .filter(({ sharedFolderCount }) => sharedFolderCount >= workspaceDepth)
    .toSorted((a, b) => b.sharedFolderCount - a.sharedFolderCount || a.size - b.size)
    .slice(0, nearestTestsMax)
    .map(({ test }) => test);
};

/** The folder depth of a workspace such as `services/links-api`. */
const workspaceDepth = 2;

const countSharedFolders = (path, otherPath) => {
  const [folders, otherFolders] = [path, otherPath].map((file) => dirname(file).split("/"));
  const differingIndex = folders.findIndex((folder, index) => folder !== otherFolders[index]);
  return differingIndex === -1 ? folders.length : differingIndex;
};

const runCheck = async (env) => {
  const scriptPath = join(root, "test/check.mjs");
  if (!existsSync(scriptPath)) return true;
  const child = startNode([scriptPath], { env, stdio: ["ignore", "inherit", "inherit"] });
  return (await waitForExit(child, checkMsMax)) === 0;
};

const runJest = async (env, args, directory) => {
  const outputFile = join(directory, "jest.json");
  const child = startNode(buildJestArgs("--json", `--outputFile=${outputFile}`, ...args), {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exitCode = await waitForExit(child, env.TEST_ALL === undefined ? jestMsMax : soakMsMax);
  const results = await readFile(outputFile, "utf8").catch(() => undefined);
  if (results === undefined) throw new Error("Jest exited without a result");
  const isPartialRun = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const counts = countResults(JSON.parse(results), { isPartialRun });
  for (const name of counts.skippedWithoutReason) {
    printToStderr(`skipped without a reason in its title: ${name}`);
  }
  const hasNoResults = counts.passed === 0 && Object.keys(counts.skippedByReason).length === 0;
  // Jest can also fail without a failed test, for example when it is killed.
  return {
    ...counts,
    failed: counts.failed === 0 && (exitCode !== 0 || hasNoResults) ? 1 : counts.failed,
  };
};

const counts = await main(process.argv.slice(2)).catch((error) => {
  if (!getInterruptSignal()) printToStderr(error instanceof Error ? error.message : String(error));
  return { passed: 0, failed: 1, skippedByReason: {} };
});
process.stdout.write(`${formatCounts(counts)}\n`);
process.exitCode = getExitCode(Math.min(counts.failed, 1));
