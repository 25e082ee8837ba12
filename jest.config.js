/** One configuration for every workspace; `npm test` brings the servers that the tests speak to. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,deploy,test}/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/", "/\\.data/"],
  extensionsToTreatAsEsm: [".ts"],
  transform: { "^.+\\.ts$": "<rootDir>/jest.strip.js" },
  // A workspace is TypeScript also when it is reached through its link in node_modules.
  transformIgnorePatterns: ["/node_modules/(?!@payment-links/)"],
  // What is used is imported from `@jest/globals`.
  injectGlobals: false,
  // Postgres, Kafka and Redis want processors too, and a developer's machine may have two.
  maxWorkers: 2,
  testTimeout: 30_000,
  watchman: false,
};
