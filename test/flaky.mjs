// `npm run test:flaky -- [--times 20] [path patterns]`: runs the tests that have changed since `main`, or
// those whose paths match, again and again beside 4 busy processes, and with ids in random order. Prints a
// line for each run, then how often each test failed; exits with 1 if any run failed. A test that fails
// here depends on the speed of the machine, on another test, or on chance.
import { readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { listChangedTests } from "./changed.mjs";
import {
  endWithin,
  exitCodeOf,
  inOwnDirectory,
  interruptedBy,
  report,
  start,
} from "./children.mjs";
import { compileCache, jestArgs, listTests, root } from "./jest/jest.mjs";
import { findServers } from "./tiers.mjs";
import { buildConsole, withServers } from "./setup.mjs";

const timesDefault = 20;
const busyCount = 4;
const runMsMax = 4_200_000;

/** Keeps a processor busy, and ends with the process that started it. */
const busyScript = `
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
  const times = Number(values.times);
  if (!Number.isSafeInteger(times) || times < 1) throw new Error("--times must be 1 or more");
  return await inOwnDirectory("payment-links-flaky-", async ({ env, directory }) => {
    const tests = await listChosen(positionals);
    if (tests.length === 0) throw new Error("no test has changed; name the tests by their paths");
    report(`${tests.length} test files, ${times} times beside ${busyCount} busy processes`);
    const run = {
      env: { ...env, NODE_COMPILE_CACHE: compileCache, SHUFFLED_IDS: "1" },
      directory,
    };
    return await withServers(run, await findServers(tests), async (serversEnv) => {
      await buildConsole(run);
      return await repeat(times, { env: await serversEnv, directory, tests });
    });
  });
};

const listChosen = async (patterns) => {
  if (patterns.length > 0) return await listTests(...patterns);
  const { tests, reason } = await listChangedTests();
  if (tests === undefined) throw new Error(`${reason}: name the tests by their paths`);
  return tests;
};

/** Runs the tests again and again; returns true if no run failed. */
const repeat = async (times, given) => {
  const failures = new Map();
  let [runCount, failedRuns] = [0, 0];
  const endBusy = startBusy(given.env);
  try {
    for (let run = 1; run <= times && !interruptedBy(); run += 1) {
      const startedAt = performance.now();
      const { passed, failed } = await runOnce(given);
      if (interruptedBy()) break;
      runCount = run;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      print(`run ${run} of ${times}: ${passed} passed, ${failed.length} failed (${seconds} s)`);
      failedRuns += failed.length > 0 ? 1 : 0;
      for (const { name, message } of failed) {
        if (!failures.has(name)) report(`${name}\n${message}`);
        failures.set(name, (failures.get(name) ?? 0) + 1);
      }
    }
  } finally {
    await endBusy();
  }
  printSummary(runCount, failures);
  return failedRuns === 0;
};

const startBusy = (env) => {
  const stdio = ["ignore", "ignore", "ignore", "ipc"];
  const busy = Array.from({ length: busyCount }, () => start(["-e", busyScript], { env, stdio }));
  return async () => {
    for (const child of busy) child.kill("SIGKILL");
    await Promise.all(busy.map((child) => child.gone));
  };
};

const runOnce = async ({ env, directory, tests }) => {
  const outputFile = join(directory, "flaky.json");
  await rm(outputFile, { force: true });
  const args = jestArgs("--json", `--outputFile=${outputFile}`, "--runTestsByPath", ...tests);
  // The results hold what a test that failed had to say.
  const child = start(args, { env, stdio: "ignore" });
  const code = await endWithin(child, runMsMax);
  const text = await readFile(outputFile, "utf8").catch(() => undefined);
  if (text === undefined)
    return { passed: 0, failed: [{ name: "Jest", message: `ended (${code})` }] };
  const { numPassedTests, testResults } = JSON.parse(text);
  return { passed: numPassedTests, failed: testResults.flatMap(failuresOf) };
};

/** The failed tests of a file, or the file itself if it could not be run. */
const failuresOf = ({ name, status, message, assertionResults }) => {
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (status === "failed" && failed.length === 0) return [{ name: file, message }];
  return failed.map((test) => ({
    name: `${file}: ${test.fullName}`,
    message: test.failureMessages.join("\n"),
  }));
};

const printSummary = (runCount, failures) => {
  if (failures.size === 0) return print(`no test failed in ${runCount} runs`);
  print("failures  test");
  for (const [name, count] of [...failures].sort(([, a], [, b]) => b - a)) {
    print(`${`${count} of ${runCount}`.padEnd(9)} ${name}`);
  }
};

const print = (line) => void process.stdout.write(`${line}\n`);

const isGood = await main(process.argv.slice(2)).catch((error) => {
  if (!interruptedBy()) report(error instanceof Error ? error.message : String(error));
  return false;
});
process.exitCode = exitCodeOf(isGood ? 0 : 1);
