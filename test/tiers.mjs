// Which tests need what. Nobody lists them: a test needs a server if it imports, directly or not,
// the one module that knows the server's address. A run is told of no other server, so a wrong
// answer would fail.
import { findUsers, listAllTests } from "./imports.mjs";
import { isCommitTest } from "./jest/jest.mjs";

/** The servers that `servers/main.ts` starts, by the names that it accepts. */
export const servers = {
  postgres: { title: "Postgres", module: "packages/postgres/src/testing.ts" },
  kafka: { title: "Kafka", module: "packages/bus/src/testing/test-brokers.ts" },
  redis: { title: "Redis", module: "packages/rate-limit/src/testing/test-redis-url.ts" },
  chromium: { title: "Chromium", module: "test/rig/chromium-url.ts" },
};

/**
 * Modules that start servers and processes of their own: the whole set, and the database that we
 * bring.
 */
const wholeSet = "test/";
const ownPostgres = "deploy/src/embedded-postgres.ts";

/** The servers that at least one of these tests asks for. */
export const findServers = async (tests) => {
  const wanted = new Set(tests);
  const names = [];
  for (const [name, { module }] of Object.entries(servers)) {
    const users = await findUsers(module);
    if (users.some((test) => wanted.has(test))) names.push(name);
  }
  return names;
};

/** Tier 1: the tests that need nothing but this clone. */
export const listAlone = async () => {
  const modules = Object.values(servers).map(({ module }) => module);
  const needy = new Set(await findUsers(ownPostgres, ...modules));
  const isAlone = (test) => isCommitTest(test) && !test.startsWith(wholeSet) && !needy.has(test);
  return (await listAllTests()).filter(isAlone);
};

/** Tier 2: the tests that need Postgres and no more. */
export const listWithPostgres = async () => {
  const { postgres, kafka, redis } = servers;
  const needy = new Set(await findUsers(ownPostgres, kafka.module, redis.module));
  const users = await findUsers(postgres.module);
  const isNeeding = (test) => isCommitTest(test) && !test.startsWith(wholeSet) && !needy.has(test);
  return users.filter(isNeeding);
};
