// Runs Postgres, Kafka and Redis for tests in the foreground, or the servers named as arguments
// (`postgres`, `kafka`, `redis`, `chromium`). When all of them are ready, prints one line of JSON
// with their addresses to stdout. Prints progress to stderr. Shuts down gracefully on SIGINT or
// SIGTERM. If a parent process holds an IPC channel, this process exits with the parent, even if
// the parent is killed.
//
// - `SERVERS_HOST`: an address of this machine that others can reach, such as pods of a cluster.
//   The default is loopback.
// - `SERVERS_SOCKET`: the path of a socket over which `switch.ts` stops and starts single servers.
//   By default, there is no socket.
// oxlint-disable-next-line reliability/no-fixed-wait -- keeps the process alive until the end
import { setTimeout as sleep } from "node:timers/promises";
import { startControlSocket } from "./control-socket.ts";
import { parseServerNames, startServers } from "./start-servers.ts";
import type { ServerUrls } from "./start-servers.ts";

/** The longest timer that Node supports: 24 days. */
const timerMsMax = 2 ** 31 - 1;

const startedAt = performance.now();
const report = (line: string) => {
  const elapsedSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`[${elapsedSeconds.padStart(5)} s] ${line}\n`);
};

const existingUrls: ServerUrls = Object.fromEntries(
  ["DATABASE_URL", "KAFKA_BROKERS", "REDIS_URL", "CHROMIUM_URL"]
    .map((name) => [name, process.env[name]])
    .filter(([, value]) => value),
);

const abortController = new AbortController();
process.on("SIGINT", () => abortController.abort());
process.on("SIGTERM", () => abortController.abort());
if (process.connected) process.once("disconnect", () => abortController.abort());

try {
  const host = process.env["SERVERS_HOST"] || undefined;
  const requestedNames = parseServerNames(process.argv.slice(2));
  const selection = requestedNames.length > 0 ? { serverNames: requestedNames } : {};
  const servers = await startServers({
    existingUrls,
    ...selection,
    report,
    signal: abortController.signal,
    host,
  });
  const socketPath = process.env["SERVERS_SOCKET"] || undefined;
  const closeControlSocket =
    socketPath === undefined ? undefined : await startControlSocket(socketPath, servers.servers);
  process.stdout.write(`${JSON.stringify(servers.urls)}\n`);
  await sleep(timerMsMax, undefined, { signal: abortController.signal }).catch(() => undefined);
  await closeControlSocket?.();
  await servers.stop();
} catch (error) {
  if (!abortController.signal.aborted) {
    report(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
} finally {
  // An open IPC channel would keep this process alive.
  if (process.connected) process.disconnect();
}
