import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer, StartServer } from "./child-server.ts";
import { findChromiumServer } from "./chromium.ts";
import { findKafka } from "./kafka.ts";
import { startPostgres } from "./postgres.ts";
import { findRedis } from "./redis.ts";

/** Where the servers are, under the names by which tests read them; for Postgres, as superuser. */
export type ServerUrls = {
  readonly DATABASE_URL?: string;
  readonly KAFKA_BROKERS?: string;
  /** The same broker where it asks who calls, and lets nobody do what was not granted. */
  readonly KAFKA_SASL_BROKERS?: string;
  readonly REDIS_URL?: string;
  /** A Chromium that Playwright connects to; absent where none could be brought. */
  readonly CHROMIUM_URL?: string;
};

/** The servers by the names that `switch.ts` takes. */
export type ServersByName = Readonly<Record<string, RunningServer>>;

/** Servers for tests, and how to end those of them that are ours. */
export type TestServers = {
  readonly urls: ServerUrls;
  readonly servers: ServersByName;
  readonly stop: () => Promise<void>;
};

type Options = {
  existingUrls: ServerUrls;
  /** Which servers to start; those that the product needs if not given. */
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

/** What the product itself needs. */
const productServers = ["postgres", "kafka", "redis"] as const satisfies readonly ServerName[];
const allServerNames = [...productServers, "chromium"] as const satisfies readonly ServerName[];
const progressMs = 5_000;

/** The servers that are named, in words as `switch.ts` takes them. */
export const parseServerNames = (requestedNames: readonly string[]): ServerName[] =>
  requestedNames.map((requestedName) => {
    const name = allServerNames.find((serverName) => serverName === requestedName);
    if (name === undefined) throw new Error(`no server is called ${requestedName}`);
    return name;
  });

/**
 * Starts real Postgres, Kafka, Redis and Chromium side by side on free ports of loopback, or of `host`. Their
 * data lies in a directory that is removed with them. A server that is `given` is used as it is and
 * never stopped. Aborting `signal` ends a start that is under way.
 */
export const startServers = async (options: Options): Promise<TestServers> => {
  const { existingUrls, serverNames = productServers, report, signal, host } = options;
  // All are looked for before any is started: if something must be installed, that is said at once.
  const serversToStart: [ServerName, StartServer][] = [];
  for (const name of serverNames) {
    const url = existingUrls[serverKinds[name].variable];
    const start = url ? useExistingServer(url) : await serverKinds[name].find();
    if (start !== undefined) serversToStart.push([name, start]);
  }

  const directory = await mkdtemp(join(tmpdir(), "payment-links-test-"));
  // If root starts it, Postgres runs as another user, who must be able to enter.
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
    report(`${title} serves (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
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
      throw new Error("a server that was given is not ours to stop");
    },
  });
