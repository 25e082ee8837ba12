import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer, StartServer } from "./child-server.ts";
import { findChromium } from "./chromium.ts";
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
  given: ServerUrls;
  /** Which servers to start; those that the product needs if not given. */
  wanted?: readonly ServerName[];
  report: (line: string) => void;
  signal: AbortSignal;
  host?: string | undefined;
};

type ServerName = keyof typeof kinds;

const kinds = {
  postgres: { title: "Postgres", variable: "DATABASE_URL", find: async () => startPostgres },
  kafka: { title: "Kafka", variable: "KAFKA_BROKERS", find: findKafka },
  redis: { title: "Redis", variable: "REDIS_URL", find: findRedis },
  chromium: { title: "Chromium", variable: "CHROMIUM_URL", find: findChromium },
} as const;

/** What the product itself needs. */
const productServers = ["postgres", "kafka", "redis"] as const satisfies readonly ServerName[];
const allNames = [...productServers, "chromium"] as const satisfies readonly ServerName[];
const progressMs = 5_000;

/** The servers that are named, in words as `switch.ts` takes them. */
export const readServerNames = (words: readonly string[]): ServerName[] =>
  words.map((word) => {
    const name = allNames.find((one) => one === word);
    if (name === undefined) throw new Error(`no server is called ${word}`);
    return name;
  });

/**
 * Starts real Postgres, Kafka, Redis and Chromium side by side on free ports of loopback, or of `host`. Their
 * data lies in a directory that is removed with them. A server that is `given` is used as it is and
 * never stopped. Aborting `signal` ends a start that is under way.
 */
export const startServers = async (options: Options): Promise<TestServers> => {
  const { given, wanted = productServers, report, signal, host } = options;
  // All are looked for before any is started: if something must be installed, that is said at once.
  const found: [ServerName, StartServer][] = [];
  for (const name of wanted) {
    const url = given[kinds[name].variable];
    const start = url ? takeAsGiven(url) : await kinds[name].find();
    if (start !== undefined) found.push([name, start]);
  }

  const directory = await mkdtemp(join(tmpdir(), "payment-links-test-"));
  // If root starts it, Postgres runs as another user, who must be able to enter.
  await chmod(directory, 0o711);
  const pending = new Set<string>();
  const ticker = setInterval(() => report(`waiting for ${[...pending].join(", ")}`), progressMs);
  const begin = async ([name, start]: [ServerName, StartServer]) => {
    const { title } = kinds[name];
    const startedAt = performance.now();
    pending.add(title);
    const context = { directory: join(directory, title), report, signal };
    const server = await start(host === undefined ? context : { ...context, host });
    pending.delete(title);
    report(`${title} serves (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    return [name, server] as const;
  };
  const starting = found.map(begin);
  const stop = async () => {
    const started = (await Promise.allSettled(starting)).filter(
      (one) => one.status === "fulfilled",
    );
    const stopped = await Promise.allSettled(started.map(({ value: [, one] }) => one.stop()));
    await rm(directory, { recursive: true, force: true });
    for (const one of stopped) if (one.status === "rejected") report(String(one.reason));
  };

  try {
    const servers = await Promise.all(starting);
    return {
      urls: Object.assign(
        {},
        ...servers.map(([name, { url, more }]) => ({ [kinds[name].variable]: url, ...more })),
      ),
      servers: Object.fromEntries(servers),
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
