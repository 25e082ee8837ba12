// Finds the tests that import a module, using Jest's dependency graph. The graph is built once per
// process.
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { SearchSource } from "jest";
import { readConfig } from "jest-config";
import Runtime from "jest-runtime";
import { root } from "./jest/jest.mjs";

const createSearch = async () => {
  const configs = await readConfig({ _: [], $0: "jest" }, root);
  const options = { maxWorkers: availableParallelism(), watchman: false };
  const context = await Runtime.createContext(configs.projectConfig, options);
  return { ...configs, source: new SearchSource(context) };
};

let searchPromise;
const getSearch = async () => await (searchPromise ??= createSearch());

const listPaths = ({ tests }) => tests.map(({ path }) => relative(root, path));

/** Returns the paths of all test files relative to the root, including soak tests. */
export const listAllTests = async () => {
  const { globalConfig, projectConfig, source } = await getSearch();
  return listPaths(await source.getTestPaths(globalConfig, projectConfig));
};

/**
 * Returns the test files that import one of the modules directly or indirectly. Includes modules
 * that are test files themselves.
 */
export const findImportingTests = async (...modules) => {
  const { source } = await getSearch();
  const paths = new Set(modules.map((path) => join(root, path)));
  return listPaths(await source.findRelatedTests(paths, false));
};
