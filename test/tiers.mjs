// Finds the servers that tests need. A test needs a server if it directly or indirectly imports the
// module that reads the server's address, so there is no list to maintain. A run does not get the
// addresses of other servers, so a mistake makes the test fail.
import { findImportingTests, listAllTests } from "./imports.mjs";
import { isCommitTest } from "./jest/jest.mjs";

/** The servers that `servers/main.ts` can start, with the names that it uses. */
export const servers = {
  postgres: { title: "Postgres", module: "packages/postgres/src/testing.ts" },
  kafka: { title: "Kafka", module: "packages/bus/src/testing/test-brokers.ts" },
  redis: { title: "Redis", module: "packages/rate-limit/src/testing/test-redis-url.ts" },
  chromium: { title: "Chromium", module: "test/rig/chromium-url.ts" },
};

/** Tests in this folder and tests that import this module start their own servers and processes. */
const systemTestFolder = "test/";
const embeddedPostgresModule = "deploy/src/embedded-postgres.ts";

/** Returns the names of the servers that at least one of the tests needs. */
export const findRequiredServers = async (tests) => {
  const selectedTests = new Set(tests);
  const names = [];
  for (const [name, { module }] of Object.entries(servers)) {
    const importingTests = await findImportingTests(module);
    if (importingTests.some((test) => selectedTests.has(test))) names.push(name);
  }
  return names;
};

/** Lists the tests of tier 1, which do not need a server. */
export const listTestsWithoutServers = async () => {
  const modules = Object.values(servers).map(({ module }) => module);
  const excludedTests = new Set(await findImportingTests(embeddedPostgresModule, ...modules));
  const needsNoServer = (test) =>
    isCommitTest(test) && !test.startsWith(systemTestFolder) && !excludedTests.has(test);
  return (await listAllTests()).filter(needsNoServer);
};

/** Lists the tests of tier 2, which need only Postgres. */
export const listPostgresTests = async () => {
  const { postgres, kafka, redis } = servers;
  const excludedTests = new Set(
    await findImportingTests(embeddedPostgresModule, kafka.module, redis.module),
  );
  const importingTests = await findImportingTests(postgres.module);
  const needsOnlyPostgres = (test) =>
    isCommitTest(test) && !test.startsWith(systemTestFolder) && !excludedTests.has(test);
  return importingTests.filter(needsOnlyPostgres);
};
