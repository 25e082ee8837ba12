// Builds Jest's arguments and counts its results.
import { execFile } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { node24Path, nodeFlags } from "../../deploy/node24.mjs";
import config from "../../jest.config.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the Node arguments that run Jest. */
export const buildJestArgs = (...args) => [
  join(root, "node_modules/jest/bin/jest.js"),
  "--rootDir",
  root,
  ...args,
];

/** Soak tests take a long time, so only `npm run test:all` runs them. */
const soakSuffix = ".soak.test.ts";

/** Returns true for a test that `npm test` runs. */
export const isCommitTest = (path) => !path.endsWith(soakSuffix);

/**
 * Excludes soak tests. On the command line, these patterns replace the patterns of the
 * configuration.
 */
export const commitTestArgs = [
  "--testPathIgnorePatterns",
  ...config.testPathIgnorePatterns,
  `${RegExp.escape(soakSuffix)}$`,
];

/** The directory where Node caches compiled modules. */
export const compileCachePath = join(root, "node_modules/.cache/node");

const outputBytesMax = 10_000_000;

/**
 * Returns the paths of the test files that Jest would run with these arguments, relative to the
 * root.
 */
export const listTests = async (...args) => {
  const nodeArgs = [...nodeFlags, ...buildJestArgs("--listTests", "--json", ...args)];
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCachePath };
  const options = { cwd: root, env, maxBuffer: outputBytesMax };
  const { stdout } = await promisify(execFile)(node24Path, nodeArgs, options);
  return JSON.parse(stdout).map((path) => relative(root, path));
};

/**
 * Counts test results. The title of a skipped test must contain the reason, such as `(no helm)`.
 * Otherwise, the test counts as failed. With `isPartialRun`, skipped tests are ignored, because
 * tests were selected by name.
 */
export const countResults = (
  { numPassedTests, numFailedTests, testResults },
  { isPartialRun = false },
) => {
  // A file that cannot be loaded counts as failed, although it has no failed test.
  const unloadableFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  const skippedByReason = {};
  const skippedWithoutReason = [];
  for (const { status, fullName } of testResults.flatMap((file) => file.assertionResults)) {
    if (isPartialRun || (status !== "pending" && status !== "todo")) continue;
    const reason = /\((no [^)]+)\)/.exec(fullName)?.[1];
    if (reason === undefined) skippedWithoutReason.push(fullName);
    else skippedByReason[reason] = (skippedByReason[reason] ?? 0) + 1;
  }
  const failed = numFailedTests + unloadableFiles.length + skippedWithoutReason.length;
  return { passed: numPassedTests, failed, skippedByReason, skippedWithoutReason };
};

/** Returns a summary such as `3593 passed, 0 failed, 109 skipped (no helm)`. */
export const formatCounts = ({ passed, failed, skippedByReason }) => {
  const reasons = Object.entries(skippedByReason);
  const summary = `${passed} passed, ${failed} failed`;
  if (reasons.length === 0) return summary;
  const skippedCount = reasons.reduce((total, [, testCount]) => total + testCount, 0);
  const reasonTexts = reasons.map(([reason, testCount]) =>
    reasons.length === 1 ? reason : `${reason}: ${testCount}`,
  );
  return `${summary}, ${skippedCount} skipped (${reasonTexts.join(", ")})`;
};
