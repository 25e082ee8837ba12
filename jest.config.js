import { availableParallelism } from "node:os";

/** One configuration for every workspace; `npm test` brings the servers that the tests speak to. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,deploy,test}/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/", "/\\.data/"],
  runner: "<rootDir>/test/jest/runner.mjs",
  // What is used is imported from `@jest/globals`.
  injectGlobals: false,
  // Two for each processor: whole-set tests wait about as long as they work.
  maxWorkers: 2 * availableParallelism(),
  testTimeout: 300_000,
  watchman: false,
  // Kept from run to run: with it go the times by which the slowest file begins first.
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
};
