import { startChild, waitUntilListening } from "../rig/child.ts";
import { startServers } from "../servers/start-servers.ts";
import { startBenchPostgres, printProgress } from "./bench-postgres.ts";
import type { OnEnd } from "./harness.ts";

/**
 * Starts the servers that a benchmark needs and that are not provided already. Postgres runs with
 * durable settings. Sets the servers' addresses as environment variables for the test rig.
 */
export const startBenchServers = async (
  postgresSettings: Readonly<Record<string, string>> = {},
) => {
  const { KAFKA_BROKERS: brokers, REDIS_URL: redisUrl } = process.env;
  const postgres = await startBenchPostgres(postgresSettings);
  const givenUrls = {
    DATABASE_URL: postgres.url,
    ...(brokers === undefined ? {} : { KAFKA_BROKERS: brokers }),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  };
  const servers = await startServers({
    existingUrls: givenUrls,
    report: printProgress,
    signal: new AbortController().signal,
  });
  Object.assign(process.env, servers.urls);
  return {
    close: async () => {
      await servers.stop();
      await postgres.close();
    },
  };
};

/** Starts a program of this folder. Resolves when it listens. */
export const startServer = async (
  onEnd: OnEnd,
  program: string,
  env: Record<string, string>,
): Promise<void> => {
  const child = startChild(`test/bench/${program}`, { NODE_ENV: "production", ...env });
  onEnd(() => child.terminate("SIGTERM"));
  await waitUntilListening(child);
};
