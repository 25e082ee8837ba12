import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer, StartServer } from "./child-server.ts";
import { findKafka } from "./kafka.ts";
import { startPostgres } from "./postgres.ts";
import { findRedis } from "./redis.ts";

/** Where the three servers are, under the names by which tests read them; Postgres as superuser. */
export type ServerUrls = {
  readonly DATABASE_URL: string;
  readonly KAFKA_BROKERS: string;
  readonly REDIS_URL: string;
};

/** The three by the names that `switch.ts` takes. */
export type ServersByName = Readonly<Record<"postgres" | "kafka" | "redis", RunningServer>>;

/** Servers for tests, and the end of those among them that are ours. */
export type TestServers = {
  readonly urls: ServerUrls;
  readonly servers: ServersByName;
  readonly stop: () => Promise<void>;
};

const progressMs = 5_000;

/**
 * Starts real Postgres, Kafka and Redis side by side on free ports of loopback, or of `host`, their
 * data in a directory that goes with them. A server that is `given` is used as it is and never
 * stopped. Aborting `signal` ends a start that is under way.
 */
export const startServers = async (
  given: Partial<ServerUrls>,
  report: (line: string) => void,
  signal: AbortSignal,
  host?: string,
): Promise<TestServers> => {
  // All looked for before any is started: where something must be installed, that is said at once.
  const postgres = given.DATABASE_URL ? takeAsGiven(given.DATABASE_URL) : startPostgres;
  const kafka = given.KAFKA_BROKERS ? takeAsGiven(given.KAFKA_BROKERS) : await findKafka();
  const redis = given.REDIS_URL ? takeAsGiven(given.REDIS_URL) : await findRedis();

  const directory = await mkdtemp(join(tmpdir(), "payment-links-test-"));
  // Root's Postgres runs as another user, who must get through.
  await chmod(directory, 0o711);
  const pending = new Set<string>();
  const ticker = setInterval(() => report(`waiting for ${[...pending].join(", ")}`), progressMs);
  const begin = async (name: string, start: StartServer) => {
    const startedAt = performance.now();
    pending.add(name);
    const context = { directory: join(directory, name), report, signal };
    const server = await start(host === undefined ? context : { ...context, host });
    pending.delete(name);
    report(`${name} serves (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    return server;
  };
  const starting = [
    begin("Postgres", postgres),
    begin("Kafka", kafka),
    begin("Redis", redis),
  ] as const;
  const stop = async () => {
    const started = (await Promise.allSettled(starting)).filter(
      (one) => one.status === "fulfilled",
    );
    const stopped = await Promise.allSettled(started.map(({ value }) => value.stop()));
    await rm(directory, { recursive: true, force: true });
    for (const one of stopped) if (one.status === "rejected") report(String(one.reason));
  };

  try {
    const [postgres, kafka, redis] = await Promise.all(starting);
    return {
      urls: { DATABASE_URL: postgres.url, KAFKA_BROKERS: kafka.url, REDIS_URL: redis.url },
      servers: { postgres, kafka, redis },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearInterval(ticker);
  }
};

const takeAsGiven =
  (url: string): StartServer =>
  async () => ({
    url,
    stop: async () => {},
    interrupt: async () => {
      throw new Error("a server that was given is not ours to stop");
    },
  });
