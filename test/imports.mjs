// Which tests import which modules, as Jest reads the tree: once for each run, in its own process.
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { SearchSource } from "jest";
import { readConfig } from "jest-config";
import Runtime from "jest-runtime";
import { root } from "./jest/jest.mjs";

const openSearch = async () => {
  const configs = await readConfig({ _: [], $0: "jest" }, root);
  const options = { maxWorkers: availableParallelism(), watchman: false };
  const context = await Runtime.createContext(configs.projectConfig, options);
  return { ...configs, source: new SearchSource(context) };
};

let opened;
const search = async () => await (opened ??= openSearch());

const pathsOf = ({ tests }) => tests.map(({ path }) => relative(root, path));

/** All test files, soak tests included, by their paths from the root. */
export const listAllTests = async () => {
  const { globalConfig, projectConfig, source } = await search();
  return pathsOf(await source.getTestPaths(globalConfig, projectConfig));
};

/** The test files that import one of these modules, directly or not, and those of them that are tests. */
export const findUsers = async (...modules) => {
  const { source } = await search();
  const paths = new Set(modules.map((path) => join(root, path)));
  return pathsOf(await source.findRelatedTests(paths, false));
};
