import { startServers } from "../servers/start-servers.ts";
import { startBenchPostgres, printProgress } from "./bench-postgres.ts";

/**
 * Starts the servers that a bench needs and the environment does not provide. Postgres gets durable
 * settings. Sets the servers' addresses in the environment, where the test rig reads them.
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
