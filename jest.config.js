import { availableParallelism } from "node:os";

/** The configuration of all workspaces. `npm test` starts the servers that the tests use. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,deploy,test}/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/", "/\\.data/"],
  runner: "<rootDir>/test/jest/runner.mjs",
  // Tests import from `@jest/globals`.
  injectGlobals: false,
  // Two more than the number of CPUs, because tests spend about half of their time waiting.
  maxWorkers: availableParallelism() + 2,
  testTimeout: 300_000,
  watchman: false,
  // Persists between runs. Also stores each file's last duration, so that the slowest file starts
  // first.
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
};
