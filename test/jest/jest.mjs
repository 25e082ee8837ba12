// How Jest is called, and how its results are counted; used by `run.mjs` and others.
import { execFile } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { node24, nodeFlags } from "../../deploy/node24.mjs";
import config from "../../jest.config.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The flags with which Node 24 runs Jest. */
export const jestArgs = (...args) => [
  join(root, "node_modules/jest/bin/jest.js"),
  "--rootDir",
  root,
  ...args,
];

/** A test whose file has this suffix proves what takes long: only `npm run test:all` runs it. */
const soakSuffix = ".soak.test.ts";

/** True for a test that `npm test` runs. */
export const isCommitTest = (path) => !path.endsWith(soakSuffix);

/** Leaves the soak tests out. On the command line, these patterns replace those of the configuration. */
export const commitTestsArgs = [
  "--testPathIgnorePatterns",
  ...config.testPathIgnorePatterns,
  `${RegExp.escape(soakSuffix)}$`,
];

/** Where Node keeps compiled code of Jest, of the libraries and of our own. */
export const compileCache = join(root, "node_modules/.cache/node");

const listBytesMax = 10_000_000;

/** The test files that Jest would run with these arguments, by their paths from the root. */
export const listTests = async (...args) => {
  const argv = [...nodeFlags, ...jestArgs("--listTests", "--json", ...args)];
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
  const options = { cwd: root, env, maxBuffer: listBytesMax };
  const { stdout } = await promisify(execFile)(node24, argv, options);
  return JSON.parse(stdout).map((path) => relative(root, path));
};

/**
 * Counts the results of the tests. The title of a skipped test says what it lacks, such as `(no
 * helm)`; a skipped test that does not say so is a failure. With `isPart`, only named tests were
 * asked for, so all others are skipped.
 */
export const countResults = (
  { numPassedTests, numFailedTests, testResults },
  { isPart = false },
) => {
  // A file that cannot be loaded has failed, although none of its tests has.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  const skipped = {};
  const unnamed = [];
  for (const { status, fullName } of testResults.flatMap((one) => one.assertionResults)) {
    if (isPart || (status !== "pending" && status !== "todo")) continue;
    const reason = /\((no [^)]+)\)/.exec(fullName)?.[1];
    if (reason === undefined) unnamed.push(fullName);
    else skipped[reason] = (skipped[reason] ?? 0) + 1;
  }
  const failed = numFailedTests + brokenFiles.length + unnamed.length;
  return { passed: numPassedTests, failed, skipped, unnamed };
};

/** Such as `3593 passed, 0 failed, 109 skipped (no helm)`. */
export const sayCounts = ({ passed, failed, skipped }) => {
  const reasons = Object.entries(skipped);
  const line = `${passed} passed, ${failed} failed`;
  if (reasons.length === 0) return line;
  const count = reasons.reduce((total, [, one]) => total + one, 0);
  const why = reasons.map(([reason, one]) => (reasons.length === 1 ? reason : `${reason}: ${one}`));
  return `${line}, ${count} skipped (${why.join(", ")})`;
};
