// Runs test files with Jest's own framework, one after the other; `runner.mjs` sends each file and
// receives its result.
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { types } from "node:util";
import { setGlobals } from "./globals.mjs";
import { takeSnapshot } from "./process-state.mjs";
import { closeSharedRigs } from "./shared-rigs.ts";

const require = createRequire(import.meta.url);

const shuffledIds = new URL("shuffled-ids.mjs", import.meta.url).href;
const replacements = new Map([
  // This package throws when it is loaded outside of Jest's `vm`.
  ["@jest/globals", new URL("globals.mjs", import.meta.url).href],
  ...(process.env.SHUFFLED_IDS ? [["typeid-js", shuffledIds]] : []),
]);
registerHooks({
  resolve: (specifier, context, next) => {
    const url = replacements.get(specifier);
    // A replacement may load what it replaces.
    const isReplaced = url !== undefined && context.parentURL !== url;
    return isReplaced ? { url, shortCircuit: true } : next(specifier, context);
  },
});

/** Jest's framework keeps the state of a run in its module, so each file gets a new one. */
const requireForFile = (path) => {
  delete require.cache[path];
  return require(path);
};

/** The part of Jest's runtime that its framework asks for. */
const runtime = {
  requireInternalModule: requireForFile,
  requireModule: require,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  setGlobalsForRuntime: setGlobals,
  enterTestCode: () => {},
  leaveTestCode: () => {},
};

const runFile = async ({ globalConfig, config, path }) => {
  if (replacements.has("typeid-js")) {
    const { shuffling } = await import(shuffledIds);
    shuffling.isOn = !path.endsWith("/contracts/src/ids.test.ts");
  }
  const start = Date.now();
  const { default: runTests } = require(config.testRunner);
  const environment = { global: globalThis };
  const result = await runTests(globalConfig, config, environment, runtime, path);
  const end = Date.now();
  const count = result.numPassingTests + result.numFailingTests + result.numPendingTests;
  return {
    ...result,
    testResults: result.testResults.map(withSendableDetails),
    testFilePath: path,
    skipped: count === result.numPendingTests,
    perfStats: { ...result.perfStats, start, end, runtime: end - start, slow: end - start > 5_000 },
  };
};

// A failed comparison's detail is no error: it holds what was expected, and matchers such as
// `expect.any` cannot be sent to another process. The message tells all of it.
const withSendableDetails = ({ failureDetails, ...result }) => ({
  ...result,
  failureDetails: failureDetails.map((detail) =>
    types.isNativeError(detail) ? detail : undefined,
  ),
});

// Opened here, as they are handles of the process where they are pipes, and not of its first file.
void [process.stdout, process.stderr];

process.once("disconnect", () => process.exit(1));
process.on("message", async (file) => {
  if (file === "end") {
    await closeSharedRigs().catch((error) => process.stderr.write(`${error.stack}\n`));
    process.exit(0);
  }
  const before = takeSnapshot();
  const answer = await runFile(file).then(
    (result) => ({ result }),
    (error) => ({ error }),
  );
  process.send({ ...answer, changes: await before.listChanges() });
});
