// `npm test`: proves a commit, on a fresh clone too. Installs what is missing, starts real servers,
// checks the code, runs the tests; the last line counts. `npm run test:all`: also the soak tests
// (`*.soak.test.ts`). `npm test -- <path patterns>`: the tests of these paths, soak tests included,
// with the servers that they need. `npm run test:quick`: all tests that need no server, and of what
// has changed since `main` those that need only Postgres.
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
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
  addCounts,
  commitTestsArgs,
  compileCache,
  countResults,
  jestArgs,
  listTests,
  root,
  sayCounts,
} from "./jest/jest.mjs";
import { buildConsole, withServers } from "./setup.mjs";
import { findServers, listWithPostgres, servers as allServers } from "./tiers.mjs";

// What hangs is ended. A machine of a third of the usual speed is only slow.
const checkMsMax = 900_000;
const aloneMsMax = 1_200_000;
const jestMsMax = 4_200_000;

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
  const names = tests.length > 0 ? ["postgres"] : [];
  return await withServers(run, names, async (env) => {
    await buildConsole(run);
    const alone = await runAlone(run.env);
    const args = ["--runTestsByPath", ...tests];
    const changed = tests.length > 0 ? [await runJest(await env, args, run.directory)] : [];
    return addCounts(alone, ...changed);
  });
};

/** Tier 2 of what has changed. */
const listQuick = async () => {
  const [{ tests, reason }, all] = [await listChangedTests(), await listWithPostgres()];
  if (tests === undefined) report(`${reason}: all that needs Postgres is tested`);
  const chosen = all.filter((test) => tests?.includes(test) ?? true);
  report(`needs Postgres and may have changed since main: ${chosen.length} of ${all.length} files`);
  return chosen;
};

/** Tier 1, by workspace: turbo runs again those that have changed, or depend on what has. */
const runAlone = async (env) => {
  const turbo = join(root, "node_modules/turbo/bin/turbo");
  const PATH = `${join(root, "node_modules/.bin")}${delimiter}${env.PATH}`;
  // By itself turbo would start ten at once, whatever the machine.
  const options = [`--concurrency=${availableParallelism()}`, "--continue"];
  const child = start([turbo, "run", "test:alone", ...options, "--output-logs=errors-only"], {
    env: { ...env, PATH, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    stdio: ["ignore", 2, "inherit"],
  });
  const code = await endWithin(child, aloneMsMax);
  const groups = ["packages", "services"].map(async (group) =>
    (await readdir(join(root, group))).map((name) => join(group, name)),
  );
  const folders = [...(await Promise.all(groups)).flat(), "deploy"];
  const texts = await Promise.all(
    folders.map((folder) =>
      readFile(join(root, folder, ".turbo/alone.json"), "utf8").catch(() => ""),
    ),
  );
  const counts = addCounts(...texts.filter((text) => text !== "").map((text) => JSON.parse(text)));
  return { ...counts, failed: counts.failed === 0 && code !== 0 ? 1 : counts.failed };
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
  const code = await endWithin(child, jestMsMax);
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
