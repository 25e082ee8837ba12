// `npm run test:flaky -- [--times 20] [path patterns]`: repeats tests next to 4 busy processes and
// with IDs in random order. Without patterns, it repeats the tests that the changes since `main`
// can affect. Prints a line for each run and then how often each test failed. Exits with 1 if any
// run failed. A test that fails here depends on the machine's speed, on another test, or on chance.
import { readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { listChangedTests } from "./changed.mjs";
import {
  getExitCode,
  getInterruptSignal,
  printToStderr,
  startNode,
  waitForExit,
  withTemporaryDirectory,
} from "./children.mjs";
import { buildJestArgs, compileCachePath, listTests, root } from "./jest/jest.mjs";
import { findRequiredServers } from "./tiers.mjs";
import { buildConsole, withServers } from "./setup.mjs";

const timesDefault = 20;
const busyProcessCount = 4;
const runMsMax = 4_200_000;

/** Keeps a CPU busy until the parent process exits. */
const busyLoopScript = `
  process.once("disconnect", () => process.exit(0));
  const compute = () => {
    for (const endsAt = Date.now() + 50; Date.now() < endsAt; );
    setImmediate(compute);
  };
  compute();
`;

const main = async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { times: { type: "string", default: String(timesDefault) } },
    allowPositionals: true,
  });
  const runCount = Number(values.times);
  if (!Number.isSafeInteger(runCount) || runCount < 1)
    throw new Error("--times must be an integer of 1 or more");
  return await withTemporaryDirectory("payment-links-flaky-", async ({ env, directory }) => {
    const tests = await listSelectedTests(positionals);
    if (tests.length === 0) throw new Error("no test has changed; specify the paths of the tests");
    printToStderr(
      `running ${tests.length} test files ${runCount} times next to ${busyProcessCount} busy processes`,
    );
    const context = {
      env: { ...env, NODE_COMPILE_CACHE: compileCachePath, SHUFFLED_IDS: "1" },
      directory,
    };
    return await withServers(context, await findRequiredServers(tests), async (serverEnv) => {
      await buildConsole(context);
      return await runRepeatedly(runCount, { env: await serverEnv, directory, tests });
    });
  });
};

const listSelectedTests = async (patterns) => {
  if (patterns.length > 0) return await listTests(...patterns);
  const { tests, reason } = await listChangedTests();
  if (tests === undefined) throw new Error(`${reason}; specify the paths of the tests`);
  return tests;
};

/** Runs the tests `runCount` times. Returns true if no run failed. */
const runRepeatedly = async (runCount, context) => {
  const failures = new Map();
  let [completedRunCount, failedRunCount] = [0, 0];
  const stopBusyProcesses = startBusyProcesses(context.env);
  try {
    for (let run = 1; run <= runCount && !getInterruptSignal(); run += 1) {
      const startedAt = performance.now();
      const { passed, failed } = await runTestsOnce(context);
      if (getInterruptSignal()) break;
      completedRunCount = run;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      printLine(
        `run ${run} of ${runCount}: ${passed} passed, ${failed.length} failed (${seconds} s)`,
      );
      failedRunCount += failed.length > 0 ? 1 : 0;
      for (const { name, message } of failed) {
        if (!failures.has(name)) printToStderr(`${name}\n${message}`);
        failures.set(name, (failures.get(name) ?? 0) + 1);
      }
    }
  } finally {
    await stopBusyProcesses();
  }
  printSummary(completedRunCount, failures);
  return failedRunCount === 0;
};

const startBusyProcesses = (env) => {
  const stdio = ["ignore", "ignore", "ignore", "ipc"];
  const busyProcesses = Array.from({ length: busyProcessCount }, () =>
    startNode(["-e", busyLoopScript], { env, stdio }),
  );
  return async () => {
    for (const child of busyProcesses) child.kill("SIGKILL");
    await Promise.all(busyProcesses.map((child) => child.exited));
  };
};

const runTestsOnce = async ({ env, directory, tests }) => {
  const outputFile = join(directory, "flaky.json");
  await rm(outputFile, { force: true });
  const args = buildJestArgs("--json", `--outputFile=${outputFile}`, "--runTestsByPath", ...tests);
  // The output is ignored, because the results contain the failure messages.
  const child = startNode(args, { env, stdio: "ignore" });
  const exitCode = await waitForExit(child, runMsMax);
  const resultsJson = await readFile(outputFile, "utf8").catch(() => undefined);
  if (resultsJson === undefined) {
    return {
      passed: 0,
      failed: [{ name: "Jest", message: `exited without a result (${exitCode})` }],
    };
  }
  const { numPassedTests, testResults } = JSON.parse(resultsJson);
  return { passed: numPassedTests, failed: testResults.flatMap(listFailures) };
};

/** Returns the failed tests of a file, or the file itself if it could not run. */
const listFailures = ({ name, status, message, assertionResults }) => {
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (status === "failed" && failed.length === 0) return [{ name: file, message }];
  return failed.map((test) => ({
    name: `${file}: ${test.fullName}`,
    message: test.failureMessages.join("\n"),
  }));
};

const printSummary = (runCount, failures) => {
  if (failures.size === 0) return printLine(`no test failed in ${runCount} runs`);
  printLine("failures  test");
  for (const [name, count] of [...failures].sort(([, a], [, b]) => b - a)) {
    printLine(`${`${count} of ${runCount}`.padEnd(9)} ${name}`);
  }
};

const printLine = (line) => void process.stdout.write(`${line}\n`);

const hasPassed = await main(process.argv.slice(2)).catch((error) => {
  if (!getInterruptSignal()) printToStderr(error instanceof Error ? error.message : String(error));
  return false;
});
process.exitCode = getExitCode(hasPassed ? 0 : 1);
