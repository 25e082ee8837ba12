// `npm test`: proves a commit, on a fresh clone too. Installs what is missing, starts real servers,
// checks the code, runs the tests; the last line counts. `npm run test:all`: also the soak tests
// (`*.soak.test.ts`). `npm test -- <path patterns>`: the tests of these paths, soak tests included,
// with the servers that they need. `npm run test:quick`: of the tests that the changes since `main` may
// concern, those that need no server or only Postgres.
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listChangedTests } from "./changed.mjs";
import {
  endWithin,
  exitCodeOf,
  inOwnDirectory,
  interruptedBy,
  report,
  start,
} from "./children.mjs";
import {
  commitTestsArgs,
  compileCache,
  countResults,
  jestArgs,
  listTests,
  root,
  sayCounts,
} from "./jest/jest.mjs";
import { buildConsole, withServers } from "./setup.mjs";
import { findServers, listAlone, listWithPostgres, servers as allServers } from "./tiers.mjs";

// What hangs is ended. A machine of a third of the usual speed is only slow. Soak tests take an hour on a
// quiet machine.
const checkMsMax = 900_000;
const jestMsMax = 4_200_000;
const soakMsMax = 10_800_000;

const main = async (args) => {
  return await inOwnDirectory("payment-links-run-", async ({ env, directory }) => {
    const run = { env: { ...env, NODE_COMPILE_CACHE: compileCache }, directory };
    if (args[0] === "--quick") return await runQuick(run);
    if (args[0] === "--all") {
      return await runWhole({ ...run, env: { ...run.env, TEST_ALL: "1" } }, []);
    }
    return args.length === 0 ? await runWhole(run, commitTestsArgs) : await runPart(run, args);
  });
};

/**
 * The check and all tests, or those that the arguments of Jest leave. Both run at the same time, as tests
 * wait more than they compute.
 */
const runWhole = (run, args) =>
  withServers(run, Object.keys(allServers), async (env) => {
    await buildConsole(run);
    const [isGood, counts] = await Promise.all([
      check(run.env),
      env.then((urls) => runJest(urls, args, run.directory)),
    ]);
    return { ...counts, failed: counts.failed + (isGood ? 0 : 1) };
  });

/**
 * The check is left out: somebody is in the middle of a change, and the code need not be tidy yet.
 */
const runPart = async (run, args) => {
  const names = await findServers(await listTests(...args));
  return await withServers(run, names, async (env) => {
    await buildConsole(run);
    return runJest(await env, args, run.directory);
  });
};

const runQuick = async (run) => {
  const tests = await listQuick();
  if (tests.length === 0) return { passed: 0, failed: 0, skipped: {} };
  return await withServers(run, await findServers(tests), async (env) => {
    await buildConsole(run);
    return await runJest(await env, ["--runTestsByPath", ...tests], run.directory);
  });
};

/** So many tests that need Postgres are quick. */
const nearestMax = 6;

/** The tests that the changes since `main` may concern; of those that need Postgres, only the nearest. */
const listQuick = async () => {
  const [changed, alone, withPostgres] = [
    await listChangedTests(),
    await listAlone(),
    await listWithPostgres(),
  ];
  if (changed.reason !== undefined) {
    report(`${changed.reason}: all tests that need no server or only Postgres`);
    return [...alone, ...withPostgres];
  }
  const concerned = new Set(changed.tests);
  const ofAlone = alone.filter((test) => concerned.has(test));
  const ofPostgres = withPostgres.filter((test) => concerned.has(test));
  const nearest = await listNearest(ofPostgres, changed.files);
  const left = ofPostgres.length - nearest.length;
  report(
    `need no server: ${ofAlone.length} files; need Postgres: ${nearest.length}, ${left} left out`,
  );
  return [...ofAlone, ...nearest];
};

/** Tests in the workspace of a changed file: those that share most folders with one first, then the smallest. */
const listNearest = async (tests, files) => {
  const places = await Promise.all(
    tests.map(async (test) => ({
      test,
      shared: Math.max(...files.map((file) => countSharedFolders(test, file))),
      size: (await stat(join(root, test))).size,
    })),
  );
  return places
    .filter(({ shared }) => shared >= workspaceDepth)
    .toSorted((one, other) => other.shared - one.shared || one.size - other.size)
    .slice(0, nearestMax)
    .map(({ test }) => test);
};

/** A workspace such as `services/links-api` lies so deep. */
const workspaceDepth = 2;

const countSharedFolders = (one, other) => {
  const [folders, others] = [one, other].map((path) => dirname(path).split("/"));
  const end = folders.findIndex((folder, index) => folder !== others[index]);
  return end === -1 ? folders.length : end;
};

const check = async (env) => {
  const script = join(root, "test/check.mjs");
  if (!existsSync(script)) return true;
  const child = start([script], { env, stdio: ["ignore", "inherit", "inherit"] });
  return (await endWithin(child, checkMsMax)) === 0;
};

const runJest = async (env, args, directory) => {
  const outputFile = join(directory, "jest.json");
  const child = start(jestArgs("--json", `--outputFile=${outputFile}`, ...args), {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await endWithin(child, env.TEST_ALL === undefined ? jestMsMax : soakMsMax);
  const results = await readFile(outputFile, "utf8").catch(() => undefined);
  if (results === undefined) throw new Error("jest ended without a result");
  const isPart = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const counts = countResults(JSON.parse(results), { isPart });
  for (const name of counts.unnamed) report(`skipped for no named reason: ${name}`);
  const hasNone = counts.passed === 0 && Object.keys(counts.skipped).length === 0;
  // Jest can fail for reasons of its own, and so can whatever ended it.
  return { ...counts, failed: counts.failed === 0 && (code !== 0 || hasNone) ? 1 : counts.failed };
};

const counts = await main(process.argv.slice(2)).catch((error) => {
  if (!interruptedBy()) report(error instanceof Error ? error.message : String(error));
  return { passed: 0, failed: 1, skipped: {} };
});
process.stdout.write(`${sayCounts(counts)}\n`);
process.exitCode = exitCodeOf(Math.min(counts.failed, 1));
