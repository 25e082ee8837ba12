// Runs test files one after another with Jest's test framework. `runner.mjs` sends each file and receives
// its result.
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { types } from "node:util";
import { setGlobals } from "./globals.mjs";
import { takeSnapshot } from "./process-state.mjs";
import { closeSharedRigs } from "./shared-rigs.ts";

const require = createRequire(import.meta.url);

const shuffledIdsUrl = new URL("shuffled-ids.mjs", import.meta.url).href;
const replacements = new Map([
  // The original package throws an error when it is loaded outside of Jest's `vm` context.
  ["@jest/globals", new URL("globals.mjs", import.meta.url).href],
  ...(process.env.SHUFFLED_IDS ? [["typeid-js", shuffledIdsUrl]] : []),
]);
registerHooks({
  resolve: (specifier, context, next) => {
    const url = replacements.get(specifier);
    // A replacement can import the original.
    const isReplaced = url !== undefined && context.parentURL !== url;
    return isReplaced ? { url, shortCircuit: true } : next(specifier, context);
  },
});

/**
 * Loads a new instance of the module, because Jest's test framework stores the state of a run in
 * module scope.
 */
const requireFresh = (path) => {
  delete require.cache[path];
  return require(path);
};

/** The subset of Jest's runtime that its test framework uses. */
const runtime = {
  requireInternalModule: requireFresh,
  requireModule: require,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  setGlobalsForRuntime: setGlobals,
  enterTestCode: () => {},
  leaveTestCode: () => {},
};

const runFile = async ({ globalConfig, config, path }) => {
  if (replacements.has("typeid-js")) {
    const { idShuffling } = await import(shuffledIdsUrl);
    idShuffling.isEnabled = !path.endsWith("/contracts/src/ids.test.ts");
  }
  const startedAt = Date.now();
  const { default: runTests } = require(config.testRunner);
  const environment = { global: globalThis };
  const result = await runTests(globalConfig, config, environment, runtime, path);
  const endedAt = Date.now();
  const testCount = result.numPassingTests + result.numFailingTests + result.numPendingTests;
  return {
    ...result,
    testResults: result.testResults.map(omitUnsendableDetails),
    testFilePath: path,
    skipped: testCount === result.numPendingTests,
    perfStats: {
      ...result.perfStats,
      start: startedAt,
      end: endedAt,
      runtime: endedAt - startedAt,
      slow: endedAt - startedAt > 5_000,
    },
  };
};

// Removes details that cannot be sent to another process. The details of a failed comparison
// contain the expected value, which can include matchers such as `expect.any`. The message also
// contains the expected value.
const omitUnsendableDetails = ({ failureDetails, ...result }) => ({
  ...result,
  failureDetails: failureDetails.map((detail) =>
    types.isNativeError(detail) ? detail : undefined,
  ),
});

// Opens both streams now. Otherwise, if they are pipes, their handles would look like leaks of the
// first file.
void [process.stdout, process.stderr];

process.once("disconnect", () => process.exit(1));
process.on("message", async (message) => {
  if (message === "end") {
    await closeSharedRigs().catch((error) => process.stderr.write(`${error.stack}\n`));
    process.exit(0);
  }
  const snapshot = takeSnapshot();
  const reply = await runFile(message).then(
    (result) => ({ result }),
    (error) => ({ error }),
  );
  process.send({ ...reply, changes: await snapshot.listChanges() });
});
