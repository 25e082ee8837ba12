import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@payment-links/deploy/embedded-postgres";
import { startServers } from "../servers/start-servers.ts";

const say = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Starts the servers of a bench that are not given, Postgres with its durable settings on, and puts
 * their addresses where the rig looks for them.
 */
export const openBenchServers = async () => {
  const folder = await mkdtemp(join(tmpdir(), "payment-links-bench-"));
  await chmod(folder, 0o755);
  const { DATABASE_URL: givenUrl, KAFKA_BROKERS: brokers, REDIS_URL: redisUrl } = process.env;
  const postgres =
    givenUrl === undefined
      ? await openEmbeddedPostgres({ directory: folder, report: say })
      : { url: givenUrl, stop: async () => {} };
  const given = {
    DATABASE_URL: postgres.url,
    ...(brokers === undefined ? {} : { KAFKA_BROKERS: brokers }),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  };
  const servers = await startServers(given, say, new AbortController().signal);
  Object.assign(process.env, servers.urls);
  return {
    close: async () => {
      await servers.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
