import { availableParallelism } from "node:os";

/** One configuration for every workspace; `npm test` brings the servers that the tests speak to. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,deploy,test}/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/", "/\\.data/"],
  runner: "<rootDir>/test/jest/runner.mjs",
  // What is used is imported from `@jest/globals`.
  injectGlobals: false,
  // Two more than processors, as tests wait for servers and timers about half of their time.
  maxWorkers: availableParallelism() + 2,
  testTimeout: 300_000,
  watchman: false,
  // Kept from run to run: with it go the times by which the slowest file begins first.
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
};
