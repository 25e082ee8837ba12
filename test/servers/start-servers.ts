import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer, StartServer } from "./child-server.ts";
import { findChromiumServer } from "./chromium.ts";
import { findKafka } from "./kafka.ts";
import { startPostgres } from "./postgres.ts";
import { findRedis } from "./redis.ts";

/**
 * Addresses of the servers, keyed by the environment variable that tests read. The Postgres URL is
 * the superuser's.
 */
export type ServerUrls = {
  readonly DATABASE_URL?: string;
  readonly KAFKA_BROKERS?: string;
  /** The listener of the same broker that requires authentication and enforces ACLs. */
  readonly KAFKA_SASL_BROKERS?: string;
  readonly REDIS_URL?: string;
  /** The Chromium to which Playwright connects. Absent if Chromium could not be installed. */
  readonly CHROMIUM_URL?: string;
};

/** The servers, keyed by the names that `switch.ts` accepts. */
export type ServersByName = Readonly<Record<string, RunningServer>>;

/** Servers for tests. `stop` stops only the servers that this process started. */
export type TestServers = {
  readonly urls: ServerUrls;
  readonly servers: ServersByName;
  readonly stop: () => Promise<void>;
};

type Options = {
  existingUrls: ServerUrls;
  /** The servers to start. The default is the servers that the product needs. */
  serverNames?: readonly ServerName[];
  report: (line: string) => void;
  signal: AbortSignal;
  host?: string | undefined;
};

type ServerName = keyof typeof serverKinds;

const serverKinds = {
  postgres: { title: "Postgres", variable: "DATABASE_URL", find: async () => startPostgres },
  kafka: { title: "Kafka", variable: "KAFKA_BROKERS", find: findKafka },
  redis: { title: "Redis", variable: "REDIS_URL", find: findRedis },
  chromium: { title: "Chromium", variable: "CHROMIUM_URL", find: findChromiumServer },
} as const;

/** The servers that the product itself needs. */
const productServers = ["postgres", "kafka", "redis"] as const satisfies readonly ServerName[];
const allServerNames = [...productServers, "chromium"] as const satisfies readonly ServerName[];
const progressMs = 5_000;

/** Parses server names as `switch.ts` accepts them. Throws if a name is unknown. */
export const parseServerNames = (requestedNames: readonly string[]): ServerName[] =>
  requestedNames.map((requestedName) => {
    const name = allServerNames.find((serverName) => serverName === requestedName);
    if (name === undefined) throw new Error(`unknown server ${requestedName}`);
    return name;
  });

/**
 * Starts real Postgres, Kafka, Redis and Chromium in parallel on free ports of loopback or of
 * `host`. Their data directory is removed when they stop. A server in `existingUrls` is not started
 * or stopped here. Aborting `signal` cancels a start in progress.
 */
export const startServers = async (options: Options): Promise<TestServers> => {
  const { existingUrls, serverNames = productServers, report, signal, host } = options;
  // Checks for all programs before starting any server, so that a missing one is reported
  // immediately.
  const serversToStart: [ServerName, StartServer][] = [];
  for (const name of serverNames) {
    const url = existingUrls[serverKinds[name].variable];
    const start = url ? useExistingServer(url) : await serverKinds[name].find();
    if (start !== undefined) serversToStart.push([name, start]);
  }

  const directory = await mkdtemp(join(tmpdir(), "payment-links-test-"));
  // If root starts Postgres, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(directory, 0o711);
  const pending = new Set<string>();
  const progressTimer = setInterval(
    () => report(`waiting for ${[...pending].join(", ")}`),
    progressMs,
  );
  const startServer = async ([name, start]: [ServerName, StartServer]) => {
    const { title } = serverKinds[name];
    const startedAt = performance.now();
    pending.add(title);
    const context = { directory: join(directory, title), report, signal };
    const server = await start(host === undefined ? context : { ...context, host });
    pending.delete(title);
    report(`${title} is ready (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    return [name, server] as const;
  };
  const startPromises = serversToStart.map(startServer);
  const stop = async () => {
    const startResults = (await Promise.allSettled(startPromises)).filter(
      (result) => result.status === "fulfilled",
    );
    const stopResults = await Promise.allSettled(
      startResults.map(({ value: [, server] }) => server.stop()),
    );
    await rm(directory, { recursive: true, force: true });
    for (const result of stopResults)
      if (result.status === "rejected") report(String(result.reason));
  };

  try {
    const servers = await Promise.all(startPromises);
    return {
      urls: Object.assign(
        {},
        ...servers.map(([name, { url, extraUrls }]) => ({
          [serverKinds[name].variable]: url,
          ...extraUrls,
        })),
      ),
      servers: Object.fromEntries(servers),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearInterval(progressTimer);
  }
};

const useExistingServer =
  (url: string): StartServer =>
  async () => ({
    url,
    stop: async () => {},
    stopTemporarily: async () => {
      throw new Error("a server that the tests did not start cannot be stopped");
    },
  });
