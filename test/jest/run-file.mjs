// Runs one test file by Jest's own framework; `runner.mjs` says which file, and gets the result.
import { once } from "node:events";
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { types } from "node:util";
import { setGlobals } from "./globals.mjs";

const require = createRequire(import.meta.url);

// This package throws at whoever loads it outside of Jest's `vm`, so another module takes its
// place.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals"
      ? { url: new URL("globals.mjs", import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});

/** The part of Jest's runtime that its framework asks for. */
const runtime = {
  requireInternalModule: require,
  requireModule: require,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  setGlobalsForRuntime: setGlobals,
  enterTestCode: () => {},
  leaveTestCode: () => {},
};

const runFile = async ({ globalConfig, config, path }) => {
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

process.once("disconnect", () => process.exit(1));
const [file] = await once(process, "message");
const answer = await runFile(file).then(
  (result) => ({ result }),
  (error) => ({ error }),
);
// What a test left open ends here.
process.send(answer, () => process.exit(0));
