// Runs Postgres, Kafka and Redis for tests in the foreground, or the servers that its arguments name
// (`postgres`, `kafka`, `redis`, `chromium`). Prints one JSON line with their addresses on stdout once all
// are ready, and progress on stderr. Ends in order on SIGINT or SIGTERM. If a parent holds an IPC
// channel, this process ends with it, even if it is killed. `SERVERS_HOST` is an address of this
// machine that others reach, such as a cluster's pods; loopback if absent. `SERVERS_SOCKET` is the
// path of a socket over which `switch.ts` stops and starts them one by one; none if absent.
// oxlint-disable-next-line reliability/no-fixed-wait -- it keeps the process until the end
import { setTimeout as sleep } from "node:timers/promises";
import { startControlSocket } from "./control-socket.ts";
import { parseServerNames, startServers } from "./start-servers.ts";
import type { ServerUrls } from "./start-servers.ts";

/** The longest time that a timer can have: 24 days. */
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
  // The channel, if there is one, would keep this process alive.
  if (process.connected) process.disconnect();
}
