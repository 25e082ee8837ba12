// Runs Postgres, Kafka and Redis for tests in the foreground, or the servers that its arguments name
// (`postgres`, `kafka`, `redis`, `chromium`). Prints one JSON line with their addresses on stdout once all
// are ready, and progress on stderr. Ends in order on SIGINT or SIGTERM. If a parent holds an IPC
// channel, this process ends with it, even if it is killed. `SERVERS_HOST` is an address of this
// machine that others reach, such as a cluster's pods; loopback if absent. `SERVERS_SOCKET` is the
// path of a socket over which `switch.ts` stops and starts them one by one; none if absent.
// oxlint-disable-next-line reliability/no-fixed-wait -- it keeps the process until the end
import { setTimeout as sleep } from "node:timers/promises";
import { listenForSwitches } from "./listen-for-switches.ts";
import { readServerNames, startServers } from "./start-servers.ts";
import type { ServerUrls } from "./start-servers.ts";

/** The longest time that a timer can have: 24 days. */
const foreverMs = 2 ** 31 - 1;

const startedAt = performance.now();
const report = (line: string) => {
  const elapsed = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`[${elapsed.padStart(5)} s] ${line}\n`);
};

const given: ServerUrls = Object.fromEntries(
  ["DATABASE_URL", "KAFKA_BROKERS", "REDIS_URL", "CHROMIUM_URL"]
    .map((name) => [name, process.env[name]])
    .filter(([, value]) => value),
);

const end = new AbortController();
process.on("SIGINT", () => end.abort());
process.on("SIGTERM", () => end.abort());
if (process.connected) process.once("disconnect", () => end.abort());

try {
  const host = process.env["SERVERS_HOST"] || undefined;
  const named = readServerNames(process.argv.slice(2));
  const wanted = named.length > 0 ? { wanted: named } : {};
  const servers = await startServers({ given, ...wanted, report, signal: end.signal, host });
  const socketPath = process.env["SERVERS_SOCKET"] || undefined;
  const closeSwitches =
    socketPath === undefined ? undefined : await listenForSwitches(socketPath, servers.servers);
  process.stdout.write(`${JSON.stringify(servers.urls)}\n`);
  await sleep(foreverMs, undefined, { signal: end.signal }).catch(() => undefined);
  await closeSwitches?.();
  await servers.stop();
} catch (error) {
  if (!end.signal.aborted) {
    report(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
} finally {
  // The channel, if there is one, would keep this process alive.
  if (process.connected) process.disconnect();
}
